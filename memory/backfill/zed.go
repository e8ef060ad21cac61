package backfill

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// zed is Zed's own agent: the SQLite database threads/threads.db in Zed's folder, a row a thread, as JSON that is
// compressed in all but the oldest (read in Zed's source: threads of version 0.3.0, 0.2.0, 0.1.0 and none; not seen
// from a running one). Threads with a parent are subagents'.
var zed = format{
	agent: "zed",
	root:  func(p Place) string { return filepath.Join(zedFolder(p, runtime.GOOS), "threads") },
	is:    func(rel string) bool { return rel == "threads.db" },
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		db, err := migrations.Look(path)
		if err != nil {
			return err
		}
		defer db.Close()
		threads, err := zedThreads(ctx, db)
		if err != nil {
			return err
		}
		odd := 0
		for _, t := range threads {
			data, err := t.data(ctx, db)
			if err != nil {
				return err
			}
			b := builder{Conversation: Conversation{ID: t.id, File: path}}
			b.in(t.folders)
			if !t.read(data, &b) {
				odd++
			} else if err := yield(b.Conversation); err != nil {
				return err
			}
		}
		if odd > 0 {
			return fmt.Errorf("%d of its %d threads are broken, too long or written in a way that is not known here",
				odd, len(threads))
		}
		return nil
	},
}

// zedFolder is where Zed keeps what it writes.
func zedFolder(p Place, system string) string {
	switch system {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support", "Zed")
	case "windows":
		return filepath.Join(p.env("LOCALAPPDATA", "AppData", "Local"), "Zed")
	}
	return filepath.Join(p.env("XDG_DATA_HOME", ".local", "share"), "zed")
}

// A zedThread is a row but for what was said, which may be large.
type zedThread struct {
	id               string
	folders          []string // that it is about, the first of them first
	created, updated time.Time
}

// zedThreads gives the threads that a person had. Columns came one by one: databases from before lack some.
func zedThreads(ctx context.Context, db *sql.DB) ([]zedThread, error) {
	names, err := sqlite.Collect(ctx, db, sqlite.One[string], `SELECT name FROM pragma_table_info('threads')`)
	if err != nil {
		return nil, err
	}
	column := func(name string) string {
		for _, have := range names {
			if have == name {
				return "coalesce(" + name + ", '')"
			}
		}
		return "''"
	}
	return sqlite.Collect(ctx, db, func(row sqlite.Row) (t zedThread, err error) {
		var folders, order, created, updated string
		if err := row.Scan(&t.id, &folders, &order, &created, &updated); err != nil {
			return t, err
		}
		t.folders = zedFolders(folders, order)
		t.updated, _ = time.Parse(time.RFC3339, updated) // one of another form is no time
		if t.created, err = time.Parse(time.RFC3339, created); err != nil {
			t.created = t.updated
		}
		return t, nil
	}, `SELECT id, `+column("folder_paths")+`, `+column("folder_paths_order")+`,
		`+column("created_at")+`, updated_at FROM threads
		WHERE `+column("parent_id")+` = '' ORDER BY updated_at, id`)
}

// maxThread is how long a conversation may be that is held at once: a thread of Zed's, as JSON, and the words of one of
// Gemini's, which are written anew while it goes on.
const maxThread = 64 << 20

// data gives a thread as JSON, nil where it cannot be unpacked.
func (t zedThread) data(ctx context.Context, db *sql.DB) ([]byte, error) {
	var kind string
	var data []byte
	err := db.QueryRowContext(ctx, `SELECT data_type, iif(length(data) > ?, '', data) FROM threads WHERE id = ?`,
		maxThread, t.id).Scan(&kind, &data)
	if err != nil {
		return nil, err
	}
	return unpack(kind, data), nil
}

func unpack(kind string, data []byte) []byte {
	if kind != "zstd" {
		return data
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxThread))
	if err != nil {
		return nil
	}
	defer z.Close()
	data, err = z.DecodeAll(data, nil)
	if err != nil {
		return nil
	}
	return data
}

// A zedMessage is one of a thread: of somebody by name, or, in a thread from before, with a role.
type zedMessage struct {
	User, Agent *struct {
		Content []struct{ Text string }
	}

	Role        string            `json:"role"`
	Segments    content           `json:"segments"`
	Text        string            `json:"text"` // in the oldest
	ToolResults []json.RawMessage `json:"tool_results"`
	Hidden      bool              `json:"is_hidden"`
}

// read makes turns of a thread. It says when it began and when it was last changed, and no more. ok is false where it
// is none that is known here.
func (t zedThread) read(data []byte, b *builder) (ok bool) {
	var thread struct {
		Messages []zedMessage `json:"messages"`
		Snapshot struct {
			Worktrees []struct {
				Path string `json:"worktree_path"`
			} `json:"worktree_snapshots"`
		} `json:"initial_project_snapshot"`
	}
	var odd *json.UnmarshalTypeError // what is of another shape is passed over
	if err := json.Unmarshal(data, &thread); err != nil && !errors.As(err, &odd) {
		return false
	}
	if b.Cwd == "" {
		var folders []string
		for _, w := range thread.Snapshot.Worktrees {
			folders = append(folders, w.Path)
		}
		b.in(folders)
	}
	for _, m := range thread.Messages {
		asked := t.updated
		if len(b.Turns) == 0 {
			asked = t.created
		}
		switch {
		case m.Hidden || len(m.ToolResults) > 0 && m.Role == "user":
		case m.User != nil, m.Role == "user":
			b.user(m.said(), asked)
		case m.Agent != nil, m.Role == "assistant":
			b.assistant(m.said(), t.updated)
		}
	}
	return len(b.Turns) > 0 || len(thread.Messages) == 0 && odd == nil
}

// said gives the words of a message.
func (m zedMessage) said() string {
	texts := append(m.Segments, m.Text)
	for _, of := range []*struct{ Content []struct{ Text string } }{m.User, m.Agent} {
		if of != nil {
			for _, part := range of.Content {
				texts = append(texts, part.Text)
			}
		}
	}
	return texts.join()
}

// zedFolders gives folders, which stand one a line in the order of their names, in the order that they were opened in.
func zedFolders(lines, order string) []string {
	folders := strings.FieldsFunc(lines, func(r rune) bool { return r == '\n' })
	for i, place := range strings.Split(order, ",") {
		if place == "0" && i < len(folders) {
			folders[0], folders[i] = folders[i], folders[0]
			break
		}
	}
	return folders
}
