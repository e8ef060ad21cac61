package backfill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gemini is Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-….jsonl (seen: 0.61.0), with a head, messages (of which a
// later one with the same id is the same, grown), "$set" lines that replace all messages before them, and "$rewindTo"
// lines that take messages back; older versions wrote one JSON object, session-….json. A subagent's file stands in a
// folder that is named by the session that started it (chatRecordingService.ts at 016443b5). PROJECT is a name that
// ~/.gemini/projects.json maps to a folder; older versions named it by the SHA-256 of the folder.
var gemini = format{
	agent: "gemini",
	roots: func(p Place) []string { return []string{filepath.Join(p.Home, ".gemini", "tmp")} },
	match: func(rel string) bool {
		return (strings.Contains(rel, "/chats/session-") || ofGeminiSubagent(rel)) &&
			(strings.HasSuffix(rel, ".jsonl") || strings.HasSuffix(rel, ".json"))
	},
	isChild: ofGeminiSubagent,
	read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
		folder, err := geminiFolder(p, path)
		if err != nil {
			return err
		}
		var chat geminiChat
		odd := eachLine(ctx, path, chat.add)
		if odd != nil && !isBadLines(odd) {
			return odd
		}
		if chat.id == "" { // one object over many lines
			whole, err := readWhole(path)
			if err != nil {
				return err
			}
			odd = chat.add(whole)
		}
		b := builder{Conversation: Conversation{ID: chat.id, Cwd: folder}, yield: yield}
		if slash := filepath.ToSlash(path); ofGeminiSubagent(slash) {
			b.Parent = filepath.Base(filepath.Dir(path))
		}
		for _, m := range chat.messages {
			switch m.Type {
			case "user":
				b.user(m.Content.prompt(), m.Timestamp)
			case "gemini":
				b.assistant(m.Content.join(), m.Timestamp)
				for _, call := range m.ToolCalls {
					b.tool(call.tool())
				}
			}
		}
		return cmp.Or(b.end(), odd)
	},
}

// ofGeminiSubagent reports whether a path is …/chats/SESSION/FILE.
func ofGeminiSubagent(path string) bool {
	_, below, found := strings.Cut(path, "/chats/")
	return found && strings.Count(below, "/") == 1
}

type geminiMessage struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Content   content   `json:"content"`
	ToolCalls []call    `json:"toolCalls"`
}

// size is how many bytes of text it holds.
func (m geminiMessage) size() (n int) {
	for _, p := range m.Content {
		n += len(p.text)
	}
	for _, call := range m.ToolCalls {
		n += len(call.Args)
	}
	return n
}

// A geminiChat is what the lines of a file come to.
type geminiChat struct {
	id       string
	messages []geminiMessage
	size     int
}

// add takes a line.
func (c *geminiChat) add(line []byte) error {
	var v struct {
		SessionID string          `json:"sessionId"`
		Messages  []geminiMessage `json:"messages"`
		Set       struct {
			Messages []geminiMessage `json:"messages"`
		} `json:"$set"`
		RewindTo string `json:"$rewindTo"`
		geminiMessage
	}
	is := func(id string) int {
		return slices.IndexFunc(c.messages, func(m geminiMessage) bool { return m.ID == id && id != "" })
	}
	switch {
	case !decode(line, &v):
		return errNotJSON
	case v.SessionID != "":
		c.id = v.SessionID
		c.messages = append(c.messages[:0], v.Messages...)
	case v.Set.Messages != nil:
		c.messages = append(c.messages[:0], v.Set.Messages...)
	case v.RewindTo != "":
		c.messages = c.messages[:max(is(v.RewindTo), 0)]
	case v.Type != "":
		c.size += v.size()
		if n := len(c.messages); n > 0 && c.messages[n-1].ID == v.ID && v.ID != "" {
			c.messages[n-1] = v.geminiMessage
		} else {
			c.messages = append(c.messages, v.geminiMessage)
		}
	}
	if v.SessionID != "" || v.Set.Messages != nil {
		c.size = 0
		for _, m := range c.messages {
			c.size += m.size()
		}
	}
	if c.size > maxThread {
		return errTooLarge
	}
	return nil
}

var errNoFolder = errors.New("its folder is named by the digest of an unknown project; --project DIR names one")

// geminiFolder returns the working directory of a conversation, "" where it is not known. errNoFolder: nobody can know
// whether it is to be left out.
func geminiFolder(p Place, path string) (string, error) {
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	_ = readJSON(filepath.Join(p.Home, ".gemini", "projects.json"), &known) // of a broken one nothing is known
	above, _, _ := strings.Cut(filepath.ToSlash(path), "/chats/")
	name := filepath.Base(above)
	for _, folder := range slices.Concat(slices.Sorted(maps.Keys(known.Projects)), p.Projects) {
		if known.Projects[folder] == name || digestOf(folder) == name {
			return folder, nil
		}
	}
	if len(name) == 2*sha256.Size {
		return "", errNoFolder
	}
	return "", nil
}

// digestOf is how older versions name a folder.
func digestOf(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return hex.EncodeToString(sum[:])
}
