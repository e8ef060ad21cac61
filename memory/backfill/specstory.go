package backfill

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// specstory is SpecStory: .specstory/history/….md in a project, which it makes of what other agents write (Markdown
// v2.1.0, and its first form): a heading "_**User**_", "_**Assistant**_" or "_**Agent (…)**_" before what each said,
// rules between them. A comment names the agent's own session: what is known of that is not taken twice. What tools
// gave stands in <details>, thoughts in <think>.
var specstory = format{
	agent: "specstory", inProjects: true,
	roots: func(p Place) []string { return p.inProjects(".specstory", "history") },
	match: func(rel string) bool { return strings.HasSuffix(rel, ".md") },
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		folder := filepath.Dir(filepath.Dir(filepath.Dir(path)))
		said := speech{at: specstoryDate(path), rule: "---", builder: &builder{yield: yield,
			Conversation: Conversation{ID: "specstory-" + filepath.Base(path), Cwd: folder}}}
		skip := "" // the element that ends what is passed over
		err := eachTextLine(ctx, path, func(line string) error {
			if found := specstorySession().FindStringSubmatch(line); found != nil && said.role == "" {
				said.ID = found[1]
			}
			head := specstoryHead().FindStringSubmatch(line)
			isAnswer := said.role == "assistant"
			switch {
			case skip != "":
				if strings.Contains(line, "</"+skip+">") {
					skip = ""
				}
			case head != nil:
				said.flush()
				if said.role = "assistant"; head[1] == "User" {
					said.role = "user"
				}
				if all := specstoryTime().FindAllString(head[2], -1); len(all) > 0 {
					said.at = timeOf(all[len(all)-1])
				}
			case isAnswer && specstoryTool().MatchString(line):
				said.flush()
				name := ""
				if found := specstoryName().FindStringSubmatch(line); found != nil {
					name = found[1] + found[2]
				}
				said.tool(newTool(name, ""))
				skip = untilEnd(line, "tool-use", "details", "think")
			case isAnswer && strings.HasPrefix(line, "<think>"):
				skip = untilEnd(line, "think")
			default:
				said.line(said.role, line)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return said.end()
	},
}

var (
	specstoryHead    = pattern.New(`^_\*\*(User|Assistant|Agent)\b(.*)\*\*_\s*$`)
	specstorySession = pattern.New(`^<!-- .*\bSession ([0-9a-fA-F-]{16,}) .*-->`)
	specstoryTime    = pattern.New(`\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z`)
	specstoryTool    = pattern.New(`^(?:<tool-use\b|<details>|<summary>Tool use|\[Tool call\]|Tool use: )`)
	specstoryName    = pattern.New(`data-tool-name="([^"]+)"|Tool use: \*\*([^*]+)\*\*`)
)

// untilEnd returns the first of elements that a line begins and does not end, "" for none.
func untilEnd(line string, elements ...string) string {
	for _, name := range elements {
		if strings.Contains(line, "<"+name) {
			if strings.Contains(line, "</"+name+">") {
				return ""
			}
			return name
		}
	}
	return ""
}

// specstoryDate reads the time of a file's name, 2025-04-26_20-30-….md.
func specstoryDate(path string) time.Time {
	name := filepath.Base(path)
	for _, layout := range []string{"2006-01-02_15-04-05Z", "2006-01-02_15-04Z", "2006-01-02_15-04"} {
		if len(name) > len(layout) {
			if t, err := time.Parse(layout, name[:len(layout)]); err == nil {
				return t
			}
		}
	}
	return time.Time{}
}
