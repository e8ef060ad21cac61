package backfill

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// zed is Zed's own agent: the SQLite database threads/threads.db in Zed's folder, a row a thread, as JSON that all but
// the oldest versions compress. The format is taken from Zed's source (threads of version 0.3.0, 0.2.0, 0.1.0 and
// none), not from a running Zed. Threads with a parent are subagents'.
var zed = format{
	agent: "zed",
	roots: func(p Place) []string { return []string{filepath.Join(zedData(p, runtime.GOOS), "threads")} },
	match: func(rel string) bool { return rel == "threads.db" },
	read: func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		return inDatabase(path, func(db *sql.DB) error {
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
				b := builder{Conversation: Conversation{ID: t.id, Parent: t.parent}, yield: yield}
				b.addFolders(t.folders...)
				if !t.read(data, &b) {
					odd++
				} else if err := b.end(); err != nil {
					return err
				}
			}
			if odd > 0 {
				return fmt.Errorf("%d of its %d threads are broken, too long or written in a way that is not "+
					"known here", odd, len(threads))
			}
			return nil
		})
	},
}

// zedData is the folder where Zed keeps what it writes.
func zedData(p Place, system string) string {
	switch system {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support", "Zed")
	case "windows":
		return filepath.Join(p.env("LOCALAPPDATA", "AppData", "Local"), "Zed")
	}
	return filepath.Join(p.env("XDG_DATA_HOME", ".local", "share"), "zed")
}

// A zedThread is a row without its data, which may be large.
type zedThread struct {
	id, parent       string
	folders          []string // that it is about, the one that was opened first in front
	created, updated time.Time
}

// zedThreads returns the threads, those of subagents last.
func zedThreads(ctx context.Context, db *sql.DB) ([]zedThread, error) {
	return sqlite.Collect(ctx, db, func(row sqlite.Row) (t zedThread, err error) {
		var folders, order, created, updated string
		err = row.Scan(&t.id, &t.parent, &folders, &order, &created, &updated)
		t.folders = zedFolders(folders, order)
		t.updated = timeOf(updated)
		if t.created = timeOf(created); t.created.IsZero() {
			t.created = t.updated
		}
		return t, err
	}, withColumns(ctx, db, `SELECT id, {threads.parent_id}, {threads.folder_paths}, {threads.folder_paths_order},
		{threads.created_at}, updated_at FROM threads ORDER BY {threads.parent_id} <> '', updated_at, id`))
}

// maxThread is how large a conversation may be, in bytes, that has to be held in memory as a whole: a thread of Zed's,
// as JSON, and the texts of one of Gemini's, where a later line may replace all before it.
const maxThread = 64 << 20

// data returns a thread as JSON: nil where it cannot be decompressed, empty where it is larger than maxThread.
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

// unpack decompresses data of a kind, and returns nil where it is broken or larger than maxThread.
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

// A zedMessage is a message of a thread: {"User": …} or {"Agent": …}, in older versions with a role.
type zedMessage struct {
	User, Agent *struct{ Content content }

	Role        string            `json:"role"`
	Segments    content           `json:"segments"`
	Text        string            `json:"text"` // in the oldest version
	ToolUses    []call            `json:"tool_uses"`
	ToolResults []json.RawMessage `json:"tool_results"`
	Hidden      bool              `json:"is_hidden"`
}

// read makes turns of a thread. Their times are those of the thread, when it began and when it was last changed: its
// messages have none. ok is false where data is no thread of a version that is known here.
func (t zedThread) read(data []byte, b *builder) (ok bool) {
	var thread struct {
		Messages []zedMessage `json:"messages"`
		Snapshot struct {
			Worktrees []struct {
				Path string `json:"worktree_path"`
			} `json:"worktree_snapshots"`
		} `json:"initial_project_snapshot"`
	}
	if !decode(data, &thread) {
		return false
	}
	if b.Cwd == "" {
		for _, w := range thread.Snapshot.Worktrees {
			b.addFolders(w.Path)
		}
	}
	for _, m := range thread.Messages {
		asked := t.updated
		if len(b.Turns) == 0 {
			asked = t.created
		}
		switch {
		case m.Hidden || len(m.ToolResults) > 0 && m.Role == "user":
		case m.User != nil, m.Role == "user":
			b.user(m.words().prompt(), asked)
		case m.Agent != nil, m.Role == "assistant":
			b.answered(m.words(), t.updated)
		}
	}
	return len(b.Turns) > 0 || thread.Messages != nil && len(thread.Messages) == 0
}

// words returns what is said in a message, and the tools that it calls.
func (m zedMessage) words() content {
	all := append(m.Segments, piece{text: m.Text})
	for _, of := range []*struct{ Content content }{m.User, m.Agent} {
		if of != nil {
			all = append(all, of.Content...)
		}
	}
	for _, c := range m.ToolUses {
		tool := c.tool()
		all = append(all, piece{call: &tool})
	}
	return all
}

// zedFolders returns the folders with the one that was opened first in front. lines holds them one a line, in the order
// of their names; order says at which place each was opened.
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
