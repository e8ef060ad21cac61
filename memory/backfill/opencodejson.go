package backfill

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Older versions of OpenCode, to 1.1, wrote a JSON file each: storage/session/PROJECT/SESSION.json,
// storage/message/SESSION/MESSAGE.json, storage/part/MESSAGE/PART.json. Names within a folder are in the order of time.

// opencodeFile is a session's file.
type opencodeFile struct {
	ID     string `json:"id"`
	Parent string `json:"parentID"`
	Folder string `json:"directory"`
}

// isOpencodeFile reports whether a path is a session's file.
func isOpencodeFile(path string) bool {
	return strings.HasSuffix(path, ".json") && strings.HasPrefix(filepath.Base(path), "ses_")
}

// isOpencodeChild reports whether a session's file is a subagent's.
func isOpencodeChild(path string) bool {
	var s opencodeFile
	return isOpencodeFile(path) && readJSON(path, &s) == nil && s.Parent != ""
}

func readOpencodeFile(ctx context.Context, path string, yield func(Conversation) error) error {
	var s opencodeFile
	if err := readJSON(path, &s); err != nil {
		return err
	}
	b := builder{Conversation: Conversation{ID: s.ID, Parent: s.Parent, Cwd: s.Folder}}
	storage := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	err := eachJSON(filepath.Join(storage, "message", filepath.Base(s.ID)), func(text []byte) error {
		var m struct {
			opencodeMessage
			ID   string `json:"id"`
			Time struct {
				Created stamp `json:"created"`
			} `json:"time"`
		}
		if json.Unmarshal(text, &m) != nil {
			return nil // without a role nothing is taken of it
		}
		m.at = m.Time.Created.Time
		err := eachJSON(filepath.Join(storage, "part", filepath.Base(m.ID)), func(part []byte) error {
			m.add(part)
			return ctx.Err()
		})
		if m.end(&b); err != nil {
			return err
		}
		if part, full := b.takePart(); full {
			return yield(part)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return yield(b.Conversation)
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
