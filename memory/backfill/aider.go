package backfill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// aider is Aider: .aider.chat.history.md in a project (aider/io.py at d1384e9d), Markdown to which each start appends:
// "#### " begins a line of the user's, "> " one of the program's, all else the model has said, in which a block of code
// may have such lines as well. A session has the time of its heading alone.
var aider = format{
	agent: "aider", inProjects: true,
	roots: func(p Place) []string { return p.inProjects(".aider.chat.history.md") },
	match: func(rel string) bool { return rel == "." },
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		said := speech{builder: &builder{yield: yield}}
		starts, fenced := 0, false
		err := eachTextLine(ctx, path, func(line string) error {
			began, isHead := strings.CutPrefix(line, "# aider chat started at ")
			words, byUser := strings.CutPrefix(line, "#### ")
			switch {
			case isHead:
				if err := said.end(); err != nil {
					return err
				}
				starts++
				said = speech{builder: &builder{yield: yield,
					Conversation: Conversation{ID: aiderID(path, starts), Cwd: filepath.Dir(path)}}}
				said.at, _ = time.ParseInLocation(time.DateTime, began, time.Local) // zero where it has another form
				fenced = false
			case fenced:
				said.line("assistant", line)
				fenced = !strings.HasPrefix(line, "```")
			case byUser:
				said.line("user", strings.TrimSuffix(words, "<blank>"))
			case line == ">" || strings.HasPrefix(line, "> "):
				said.line("", "")
			case strings.TrimSpace(line) == "":
				said.line(said.role, "")
			default:
				said.line("assistant", line)
				fenced = strings.HasPrefix(line, "```")
			}
			return nil
		})
		if err != nil {
			return err
		}
		return said.end()
	},
}

// A speech gathers the lines of what one side said.
type speech struct {
	*builder
	role  string // whose lines these are
	lines []string
	rule  string // what may stand behind the last line
	at    time.Time
}

// line takes a line of a side; what the other one said is whole then.
func (s *speech) line(role, line string) {
	if role != s.role {
		s.flush()
	}
	s.role, s.lines = role, append(s.lines, line)
}

// flush takes what was said so far.
func (s *speech) flush() {
	text := strings.TrimSuffix(strings.TrimSpace(strings.Join(s.lines, "\n")), s.rule)
	s.say(s.role, content{{text: text}}, s.at)
	s.lines = nil
}

func (s *speech) end() error {
	s.flush()
	return s.builder.end()
}

// aiderID names a session, which Aider does not, by its file and its place in that.
func aiderID(path string, n int) string {
	sum := sha256.Sum256([]byte(path))
	return fmt.Sprintf("aider-%s-%d", hex.EncodeToString(sum[:8]), n)
}
