package backfill

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// opencode is OpenCode: the SQLite database ~/.local/share/opencode/opencode.db (seen: 1.18.33), with tables of
// sessions, of messages and of their parts; the latter two hold JSON. To 1.1 it wrote a JSON file each, below storage:
// session/PROJECT/SESSION.json, message/SESSION/MESSAGE.json, part/MESSAGE/PART.json. Names within a folder are in the
// order of time.
var opencode = format{
	agent: "opencode",
	roots: func(p Place) []string {
		return []string{p.data("opencode", "storage", "session"), p.data("opencode", "opencode.db")}
	},
	match: func(rel string) bool { return rel == "." || isOpencodeFile(rel) },
	isChild: func(path string) bool {
		var s opencodeSession
		return isOpencodeFile(path) && readJSON(path, &s) == nil && s.Parent != ""
	},
	read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
		if isOpencodeFile(path) {
			return readOpencodeFile(ctx, path, yield)
		}
		return opencodeTables.read(ctx, p, path, yield)
	},
}

// opencodeTables leave out what tools gave, which is most of a database.
var opencodeTables = database{
	sessions: `SELECT id, directory, coalesce(parent_id, '') FROM session
		ORDER BY parent_id IS NOT NULL, time_created, id`,
	messages: `SELECT CASE WHEN NOT json_valid(m.data) THEN '' WHEN m.data ->> 'role' = 'assistant'
			AND m.data -> 'summary' = 'true' THEN 'compaction' ELSE coalesce(m.data ->> 'role', '') END,
		'[' || group_concat(CASE WHEN NOT json_valid(p.data) THEN NULL WHEN p.data ->> 'type' = 'tool'
			THEN json_remove(p.data, '$.state.output') WHEN p.data ->> 'type' = 'text' THEN p.data END ORDER BY
			p.time_created, p.id) || ']', min(p.time_created) / 1000.0
		FROM message m JOIN part p ON p.message_id = m.id
		WHERE m.session_id = ? GROUP BY m.id ORDER BY m.time_created, m.id`,
}

// An opencodeSession is a session's file.
type opencodeSession struct {
	ID     string `json:"id"`
	Parent string `json:"parentID"`
	Folder string `json:"directory"`
}

// isOpencodeFile reports whether a path is a session's file.
func isOpencodeFile(path string) bool {
	return strings.HasSuffix(path, ".json") && strings.HasPrefix(filepath.Base(path), "ses_")
}

func readOpencodeFile(ctx context.Context, path string, yield func(Conversation) error) error {
	var s opencodeSession
	if err := readJSON(path, &s); err != nil {
		return err
	}
	b := builder{Conversation: Conversation{ID: s.ID, Parent: s.Parent, Cwd: s.Folder}, yield: yield}
	storage := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	err := eachJSON(filepath.Join(storage, "message", filepath.Base(s.ID)), func(text []byte) error {
		var m struct {
			ID      string          `json:"id"`
			Role    string          `json:"role"`
			Summary json.RawMessage `json:"summary"` // of an answer: true for a compaction's
			Time    struct {
				Created stamp `json:"created"`
			} `json:"time"`
		}
		if !decode(text, &m) {
			return nil // without a role nothing is taken of it
		}
		var words content
		err := eachJSON(filepath.Join(storage, "part", filepath.Base(m.ID)), func(text []byte) error {
			var part block
			if decode(text, &part) {
				if p, ok := part.piece(); ok {
					words = append(words, p)
				}
			}
			return ctx.Err()
		})
		if m.Role == "assistant" && string(m.Summary) == "true" {
			m.Role = "compaction"
		}
		b.say(m.Role, words, m.Time.Created.Time)
		return cmp.Or(err, b.err)
	})
	if err != nil {
		return err
	}
	return b.end()
}

// eachJSON calls f for each JSON file of a folder, in the order of their names; of a folder that is not there for none.
func eachJSON(folder string, f func(text []byte) error) error {
	entries, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		text, err := readWhole(filepath.Join(folder, entry.Name()))
		if err == nil {
			err = f(text)
		}
		if err != nil {
			return err
		}
	}
	return err
}
