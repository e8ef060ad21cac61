package backfill

import (
	"context"
	"path/filepath"
	"regexp"
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
		b := builder{Conversation: Conversation{ID: "specstory-" + filepath.Base(path), Cwd: folder}}
		at := specstoryDate(path)
		var role, skip string
		var said []string
		flush := func() {
			text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.Join(said, "\n")), "---"))
			b.say(role, content{{text: text}}, at)
			said = nil
		}
		err := eachTextLine(ctx, path, func(line string) error {
			if found := specstorySession().FindStringSubmatch(line); found != nil && role == "" {
				b.ID = found[1]
			}
			head := specstoryHead().FindStringSubmatch(line)
			switch {
			case skip != "":
				if strings.Contains(line, "</"+skip+">") {
					skip = ""
				}
			case head != nil:
				flush()
				if role = "assistant"; head[1] == "User" {
					role = "user"
				}
				if t := timeOf(lastMatch(specstoryTime(), head[2])); !t.IsZero() {
					at = t
				}
			case role == "assistant" && specstoryTool().MatchString(line):
				flush()
				b.tool(specstoryCall(line))
				skip = untilEnd(line, "tool-use", "details", "think")
			case role == "assistant" && strings.HasPrefix(line, "<think>"):
				skip = untilEnd(line, "think")
			default:
				said = append(said, line)
			}
			return nil
		})
		if err != nil {
			return err
		}
		flush()
		return yield(b.Conversation)
	},
}

var (
	specstoryHead    = pattern.New(`^_\*\*(User|Assistant|Agent)\b(.*)\*\*_\s*$`)
	specstorySession = pattern.New(`^<!-- .*\bSession ([0-9a-fA-F-]{16,}) .*-->`)
	specstoryTime    = pattern.New(`\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z`)
	specstoryTool    = pattern.New(`^(?:<tool-use\b|<details>|<summary>Tool use|\[Tool call\]|Tool use: )`)
	specstoryName    = pattern.New(`data-tool-name="([^"]+)"|Tool use: \*\*([^*]+)\*\*`)
)

// lastMatch returns the last text that a pattern matches, "" for none.
func lastMatch(p *regexp.Regexp, text string) string {
	if all := p.FindAllString(text, -1); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// specstoryCall makes a Tool of a line that names one.
func specstoryCall(line string) Tool {
	name := ""
	if found := specstoryName().FindStringSubmatch(line); found != nil {
		name = found[1] + found[2]
	}
	return toolCall(name, "")
}

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
