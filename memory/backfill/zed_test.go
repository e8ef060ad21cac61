package backfill

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// A zedDatabase is one as Zed makes it, in the folder where it does.
type zedDatabase struct {
	*testing.T
	home string
	*sql.DB
}

func newZed(t *testing.T) zedDatabase {
	t.Helper()
	home := t.TempDir()
	folder := zed.roots(Place{Home: home})[0]
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(migrations.DriverName, filepath.Join(folder, "threads.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	z := zedDatabase{t, home, db}
	z.do(`CREATE TABLE IF NOT EXISTS threads (
		id TEXT PRIMARY KEY,
		summary TEXT NOT NULL,
		updated_at TEXT NOT NULL,
		data_type TEXT NOT NULL,
		data BLOB NOT NULL
	)`)
	return z
}

// widen adds the columns that came later.
func (z zedDatabase) widen() {
	z.Helper()
	for _, column := range []string{"parent_id", "folder_paths", "folder_paths_order", "created_at"} {
		z.do(`ALTER TABLE threads ADD COLUMN ` + column + ` TEXT`)
	}
}

func (z zedDatabase) do(statement string, args ...any) {
	z.Helper()
	if _, err := z.ExecContext(z.Context(), statement, args...); err != nil {
		z.Fatal(err)
	}
}

// add adds a thread.
func (z zedDatabase) add(id, kind string, data []byte) {
	z.Helper()
	z.do(`INSERT INTO threads (id, summary, updated_at, data_type, data) VALUES (?, 'Heron',
		'2026-03-01T09:01:05.000000000+00:00', ?, ?)`, id, kind, data)
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "zed", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Threads of each version that Zed can read, as its source writes them, two of them compressed by zstd itself: in a
// database that has the first columns alone, and in one that has all.
func TestZed(t *testing.T) {
	fixtures := map[string]string{
		"thread-0.3.0.json.zst": "zstd", "thread-0.2.0.json.zst": "zstd",
		"thread-0.3.0.json": "json", "thread-0.2.0.json": "json", "thread-0.1.0.json": "json", "thread-none.json": "json",
	}
	for _, wide := range []bool{false, true} {
		t.Run(fmt.Sprintf("wide=%t", wide), func(t *testing.T) {
			z := newZed(t)
			if wide {
				z.widen()
			}
			for name, kind := range fixtures {
				z.add(name, kind, fixture(t, name))
			}
			all, skipped := walk(t, z.home, "zed")
			if len(all) != len(fixtures) || len(skipped) != 0 {
				t.Fatalf("%d threads, skipped %v", len(all), skipped)
			}
			at := time.Date(2026, 3, 1, 9, 1, 5, 0, time.UTC)
			for _, c := range all {
				if c.Cwd != "/home/robin/work" || fixtures[c.ID] == "" {
					t.Errorf("%s in %s", c.ID, c.Cwd)
				}
				var users []string
				for _, turn := range c.Turns {
					users = append(users, turn.User)
					if chars.WithoutToolMarks(turn.Assistant) != "ok" || !turn.Started.Equal(at) || !turn.Ended.Equal(at) {
						t.Errorf("%s: %+v", c.ID, turn)
					}
				}
				if tools := c.Turns[0].Tools; c.ID != "thread-none.json" && (len(tools) != 1 || tools[0].Kind != "read") {
					t.Errorf("%s: %+v", c.ID, tools)
				}
				if !slices.Equal(users, []string{heron, kestrel}) {
					t.Errorf("%s: %q", c.ID, users)
				}
			}
		})
	}
}

// What the row of a thread says beside it: its folders, the first of them first, when it began, and whose it is.
func TestZedColumns(t *testing.T) {
	z := newZed(t)
	z.widen()
	for _, id := range []string{"one", "of a subagent"} {
		z.add(id, "zstd", fixture(t, "thread-0.3.0.json.zst"))
	}
	z.do(`UPDATE threads
		SET folder_paths = '/home/robin/a' || char(10) || '/home/robin/b' || char(10) || '/home/robin/c',
		folder_paths_order = '2,0,1', created_at = '2026-03-01T08:00:00.000000000+00:00'`)
	z.do(`UPDATE threads SET parent_id = 'one' WHERE id = 'of a subagent'`)
	all, skipped := walk(t, z.home, "zed")
	if len(all) != 2 || len(skipped) != 0 || all[1].Parent != "one" {
		t.Fatalf("%+v, skipped %v", all, skipped)
	}
	c := all[0]
	if c.ID != "one" || c.Cwd != "/home/robin/b" ||
		!slices.Equal(c.OtherFolders, []string{"/home/robin/a", "/home/robin/c"}) {
		t.Errorf("%s in %s and %q", c.ID, c.Cwd, c.OtherFolders)
	}
	if began := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC); !c.Turns[0].Started.Equal(began) ||
		!c.Turns[1].Started.After(began) {
		t.Errorf("turns of %v and %v", c.Turns[0].Started, c.Turns[1].Started)
	}
}

// Threads that are broken, cut off, of a newer format or none at all are counted, and those beside them are read.
func TestZedOddThreads(t *testing.T) {
	whole := fixture(t, "thread-0.3.0.json.zst")
	for name, tt := range map[string]struct {
		kind string
		data []byte
	}{
		"not compressed":   {"zstd", []byte("hello")},
		"cut off":          {"json", fixture(t, "thread-0.3.0.json")[:900]},
		"cut off, packed":  {"zstd", whole[:len(whole)-40]},
		"a newer packing":  {"brotli", whole},
		"a newer format":   {"json", []byte(`{"version":"0.9.0","messages":[{"Utterance":{"words":"hello"}}]}`)},
		"no thread":        {"json", []byte(`["hello"]`)},
		"messages of none": {"json", []byte(`{"messages":{"User":1}}`)},
		"nothing":          {"json", []byte{}},
	} {
		t.Run(name, func(t *testing.T) {
			z := newZed(t)
			z.add("a", tt.kind, tt.data)
			z.add("b", "zstd", whole)
			all, skipped := walk(t, z.home, "zed")
			turns := map[string]int{}
			for _, c := range all {
				turns[c.ID] += len(c.Turns)
			}
			if turns["a"] != 0 || turns["b"] != 2 {
				t.Errorf("turns: %v", turns)
			}
			if len(skipped) != 1 || !strings.Contains(skipped[0].Why, "1 of its 2 threads") {
				t.Errorf("skipped %v", skipped)
			}
		})
	}
}

// A thread that unpacks to more than one may have is not unpacked.
func TestZedBomb(t *testing.T) {
	z := newZed(t)
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	z.add("bomb", "zstd", pack.EncodeAll(append(bytes.Repeat([]byte(" "), maxThread), `{"messages":[]}`...), nil))
	all, skipped := walk(t, z.home, "zed")
	if len(all) != 0 || len(skipped) != 1 || !strings.Contains(skipped[0].Why, "1 of its 1 threads") {
		t.Errorf("%v, skipped %v", all, skipped)
	}
}

func TestZedFolder(t *testing.T) {
	variables := map[string]string{"XDG_DATA_HOME": "/data"}
	p := Place{Home: "/home/robin", Getenv: func(name string) string { return variables[name] }}
	for system, want := range map[string]string{
		"linux":   "/data/zed",
		"darwin":  "/home/robin/Library/Application Support/Zed",
		"windows": "/home/robin/AppData/Local/Zed",
	} {
		if got := filepath.ToSlash(zedData(p, system)); got != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %s", system, got)
		}
	}
}

// No thread, whatever is in it, breaks its reader.
func FuzzZed(f *testing.F) {
	for _, name := range []string{
		"thread-0.3.0.json.zst", "thread-0.2.0.json", "thread-0.1.0.json", "thread-none.json",
	} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []string{"zstd", "json"} {
			var b builder
			zedThread{}.read(unpack(kind, data), &b)
			for _, turn := range b.Turns {
				if turn.User == "" {
					t.Error("a turn of nobody")
				}
			}
		}
	})
}
