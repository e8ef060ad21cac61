package backfill

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// cursor is Cursor: the SQLite database globalStorage/state.vscdb with rows composerData:SESSION and
// bubbleId:SESSION:MESSAGE (versions 3 to 17, as agentsview at 93d32124 reads them), and, of its command line,
// ~/.cursor/projects/FOLDER/agent-transcripts/….jsonl (agentsview at 109ae211). FOLDER is a path without its signs: one
// that no project is known for is left out.
var cursor = format{
	agent: "cursor",
	roots: func(p Place) []string {
		return []string{p.editor("Cursor", "globalStorage", "state.vscdb"),
			filepath.Join(p.env("CURSOR_CONFIG_DIR", ".cursor"), "projects")}
	},
	match: func(rel string) bool {
		return rel == "." || strings.Contains(rel, "/agent-transcripts/") && strings.HasSuffix(rel, ".jsonl")
	},
	isChild: func(path string) bool { return strings.Contains(path, "/subagents/") },
	read: func(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
		if filepath.Base(path) != "state.vscdb" {
			return cursorTranscript(ctx, p, path, yield)
		}
		return inDatabase(path, func(db *sql.DB) error {
			ids, err := sqlite.Collect(ctx, db, sqlite.One[string], `SELECT CAST(key AS TEXT) FROM cursorDiskKV
				WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL
				ORDER BY CAST(value AS TEXT) LIKE '%"parentComposerId":"%', key`)
			folders := cursorFolders(ctx, filepath.Dir(filepath.Dir(path)))
			for _, key := range ids {
				if err == nil {
					err = cursorSession(ctx, db, strings.TrimPrefix(key, "composerData:"), folders, yield)
				}
			}
			return err
		})
	},
}

// A cursorComposer is a session.
type cursorComposer struct {
	Created stamp          `json:"createdAt"`
	Updated stamp          `json:"lastUpdatedAt"`
	Order   []cursorBubble `json:"fullConversationHeadersOnly"`
	Inline  []cursorBubble `json:"conversation"` // in the oldest versions
	Of      struct {
		Parent string `json:"parentComposerId"`
	} `json:"subagentInfo"`
	Workspace struct {
		URI struct {
			Path string `json:"fsPath"`
		} `json:"uri"`
	} `json:"workspaceIdentifier"`
}

// A cursorBubble is a message.
type cursorBubble struct {
	ID      string `json:"bubbleId"`
	Type    int    `json:"type"` // 1: the user's, 2: the agent's
	Kind    int    `json:"capabilityType"`
	Text    string `json:"text"`
	Folder  string `json:"workspaceProjectDir"`
	Created stamp  `json:"createdAt"`
	Tool    struct {
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"rawArgs"`
		Params json.RawMessage `json:"params"`
	} `json:"toolFormerData"`
}

// cursorCompaction is the Kind of a bubble that marks a compaction.
const cursorCompaction = 22

func cursorSession(ctx context.Context, db *sql.DB, id string, folders map[string]string,
	yield func(Conversation) error) error {
	var c cursorComposer
	if ok, err := cursorValue(ctx, db, "composerData:"+id, &c); !ok {
		return err
	}
	b := builder{yield: yield, Conversation: Conversation{ID: id, Parent: c.Of.Parent,
		Cwd: cmp.Or(c.Workspace.URI.Path, folders[id])}}
	at := c.Created.Time
	for _, one := range append(c.Inline, c.Order...) {
		if one.Text == "" {
			if _, err := cursorValue(ctx, db, "bubbleId:"+id+":"+one.ID, &one); err != nil {
				return err
			}
		}
		b.Cwd = cmp.Or(b.Cwd, one.Folder)
		at = latest(at, one.Created.Time)
		switch {
		case one.Kind == cursorCompaction:
			b.note(summary)
		case one.Type == 1:
			b.user(one.Text, at)
		case one.Type == 2:
			b.assistant(one.Text, at)
			if one.Tool.Name != "" {
				b.tool(toolCall(one.Tool.Name, cmp.Or(string(one.Tool.Args), string(one.Tool.Params))))
			}
		}
	}
	return b.end()
}

// cursorValue decodes the value of a key, and reports whether there is one of at most maxLine bytes.
func cursorValue(ctx context.Context, db *sql.DB, key string, to any) (bool, error) {
	var value []byte
	err := db.QueryRowContext(ctx, `SELECT value FROM cursorDiskKV WHERE key = ? AND length(value) <= ?`, key,
		maxLine).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && decode(value, to), err
}

// cursorFolders returns the folders of sessions, as the storage of each window has them.
func cursorFolders(ctx context.Context, user string) map[string]string {
	folders := map[string]string{}
	windows, _ := filepath.Glob(filepath.Join(globEscape(user), "workspaceStorage", "*")) // none: nothing is known
	for _, window := range windows {
		folder := workspaceFolder(window)
		if folder == "" {
			continue
		}
		var all struct {
			Composers []struct {
				ID string `json:"composerId"`
			} `json:"allComposers"`
		}
		// of a broken one nothing is known
		_ = inDatabase(filepath.Join(window, "state.vscdb"), func(db *sql.DB) error {
			var text []byte
			row := db.QueryRowContext(ctx, `SELECT value FROM ItemTable WHERE key = 'composer.composerData'`)
			err := row.Scan(&text)
			decode(text, &all)
			return err
		})
		for _, c := range all.Composers {
			folders[c.ID] = folder
		}
	}
	return folders
}

// cursorQuery finds the user's words in what a prompt of the command line holds.
var cursorQuery = pattern.New(`(?s)<user_query>\s*(.*?)\s*</user_query>`)

func cursorTranscript(ctx context.Context, p Place, path string, yield func(Conversation) error) error {
	slash := filepath.ToSlash(path)
	above, _, _ := strings.Cut(slash, "/agent-transcripts/")
	folder := folderNamed(filepath.Base(above), p.Projects)
	if folder == "" {
		return errNoFolder
	}
	parent := ""
	if ofParent, _, is := strings.Cut(slash, "/subagents/"); is {
		parent = filepath.Base(ofParent)
	}
	written := modified(path)
	return jsonLines(func(b *builder, line struct {
		Role    string `json:"role"`
		At      stamp  `json:"timestamp"`
		Message struct {
			Content content `json:"content"`
		} `json:"message"`
	}) {
		b.ID, b.Cwd, b.Parent = strings.TrimSuffix(filepath.Base(path), ".jsonl"), folder, parent
		if line.At.IsZero() {
			line.At.Time = written
		}
		said := line.Message.Content
		if line.Role == "user" {
			text := said.join()
			said = content{{text: cmp.Or(elements(cursorQuery(), text), text)}}
		}
		b.say(line.Role, said, line.At.Time)
	})(ctx, p, path, yield)
}

// folderNamed returns the folder whose path is a name once all its signs are replaced, "" for none.
func folderNamed(name string, folders []string) string {
	plain := func(text string) string {
		return strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, text), "-")
	}
	for _, folder := range folders {
		if plain(folder) == plain(name) {
			return folder
		}
	}
	return ""
}
