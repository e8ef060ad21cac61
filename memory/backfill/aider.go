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
// "#### " begins a line of the user's, "> " one of the program's, all else the model has said. A session has the time
// of its heading alone.
var aider = format{
	agent: "aider", inProjects: true,
	roots: func(p Place) []string { return p.inProjects(".aider.chat.history.md") },
	match: func(rel string) bool { return rel == "." },
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		var b builder
		var role string
		var said []string
		starts := 0
		var at time.Time
		flush := func() {
			b.say(role, content{{text: strings.Join(said, "\n")}}, at)
			role, said = "", nil
		}
		fenced := false
		err := eachTextLine(ctx, path, func(line string) error {
			of := role
			began, isHead := strings.CutPrefix(line, "# aider chat started at ")
			words, byUser := strings.CutPrefix(line, "#### ")
			switch {
			case isHead && !fenced:
				flush()
				if err := yield(b.Conversation); err != nil {
					return err
				}
				starts++
				at, _ = time.ParseInLocation(time.DateTime, began, time.Local) // zero where it has another form
				b = builder{Conversation: Conversation{ID: aiderID(path, starts), Cwd: filepath.Dir(path)}}
				return nil
			case fenced:
			case byUser:
				of, line = "user", strings.TrimSuffix(words, "<blank>")
			case line == ">" || strings.HasPrefix(line, "> "):
				flush()
				return nil
			case strings.TrimSpace(line) != "":
				of = "assistant"
			}
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if of != role {
				flush()
			}
			role = of
			said = append(said, line)
			return nil
		})
		if err != nil {
			return err
		}
		flush()
		return yield(b.Conversation)
	},
}

// aiderID names a session, which Aider does not, by its file and its place in that.
func aiderID(path string, n int) string {
	sum := sha256.Sum256([]byte(path))
	return fmt.Sprintf("aider-%s-%d", hex.EncodeToString(sum[:8]), n)
}
