package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A recording is what a relay has written until it was killed behind its last response: into the database, or, while
// somebody else held that, into its event file. The database's log and the event file were only appended to, and the
// database's own file stayed as it was, so that their prefixes are what a kill at any other moment leaves.
//
// That covers a kill between two appends and in the middle of one, of a turn and of a migration. It does not cover the
// removal of files, nor a power cut that reorders writes. Commands that rename and truncate are killed after ever longer
// times instead (TestCrashedCommands), and disks that take no more after ever more bytes (TestCrashFull).
type recording struct {
	base, wal, events []byte
	process           string // the name of its event file
	said              []string
	had               int // turns in the base
}

const (
	walHeader   = 32 // https://sqlite.org/fileformat2.html#walformat
	frameHeader = 24
)

// record lets a relay have two turns on a database, which somebody else may hold, and kills it once they are written.
func record(t *testing.T, base []byte, held bool) *recording {
	b := newBox(t)
	b.set("ECHOAGENT_TERSE=1", "SIGNET_PORT=1", "SIGNET_ACP_MEMORY=embedded")
	acp := filepath.Dir(b.database())
	must(b, os.MkdirAll(acp, 0o700))
	r := &recording{base: base}
	if r.base == nil {
		b.run(proxyBin, "sessions")
		var err error
		r.base, err = os.ReadFile(b.database())
		must(b, err)
	} else {
		must(b, os.WriteFile(b.database(), base, 0o600))
		r.had = len(b.query(`SELECT 1 FROM turns`))
	}
	if held {
		b.set("SIGNET_ACP_HOLD=300ms") // each prompt waits that long
		db, err := sql.Open("sqlite3", "file:"+b.database())
		must(b, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		_, err = db.Exec("BEGIN IMMEDIATE")
		must(b, err)
	}
	c := b.connect(nil, echoBin)
	session := c.open()
	for n := range 2 {
		r.said = append(r.said, fmt.Sprintf("Turn %d of the one that is killed.", n))
		c.say(session, r.said[n])
	}
	if !held {
		b.wait("the turns in the database", func() bool {
			return len(b.query(`SELECT 1 FROM turns WHERE stop = 'end_turn'`)) == r.had+len(r.said)
		})
	}
	must(b, c.cmd.Process.Kill())
	c.vanish()
	if held {
		files, err := filepath.Glob(filepath.Join(acp, "live", "*.events"))
		must(b, err)
		if len(files) != 1 {
			t.Fatalf("event files: %q", files)
		}
		r.process = filepath.Base(files[0])
		r.events, err = os.ReadFile(files[0])
		must(b, err)
	} else {
		var err error
		r.wal, err = os.ReadFile(b.database() + "-wal")
		must(b, err)
	}
	now, err := os.ReadFile(b.database())
	must(b, err)
	if !bytes.Equal(now, r.base) {
		t.Fatal("the database's own file was written")
	}
	return r
}

// put makes a box hold the beginnings of the log and of the event file.
func (r *recording) put(b *box, wal, events int) {
	acp := filepath.Dir(b.database())
	must(b, os.RemoveAll(acp))
	must(b, os.MkdirAll(filepath.Join(acp, "live"), 0o700))
	must(b, os.WriteFile(b.database(), r.base, 0o600))
	if r.process == "" {
		must(b, os.WriteFile(b.database()+"-wal", r.wal[:wal], 0o600))
	} else {
		must(b, os.WriteFile(filepath.Join(acp, "live", r.process), r.events[:events], 0o600))
	}
}

// check starts the program again: the database opens and is whole, each turn whose end was written is there, once, and
// no session was told twice.
func (r *recording) check(b *box, wal, events int) {
	b.t.Helper()
	where := fmt.Sprintf("%d of %d bytes of the log, %d of %d of the event file", wal, len(r.wal), events, len(r.events))
	if got := b.try(proxyBin, "sessions", "--json"); got.Code != 0 || got.Stderr != "" {
		b.t.Errorf("%s: exit %d\n%s", where, got.Code, got.Stderr)
		return
	}
	if got := b.query(`PRAGMA integrity_check`); got[0][0] != "ok" {
		b.t.Errorf("%s: %s", where, got)
	}
	if n := len(b.query(`SELECT 1 FROM turns`)); n < r.had {
		b.t.Errorf("%s: %d turns are left of %d that were there before", where, n, r.had)
	}
	whole := r.events[:bytes.LastIndexByte(r.events[:events], '\n')+1] // no response leaves before its turn's last line is
	ended := bytes.Count(whole, []byte(`"kind":"turn_ended"`))
	if r.process == "" && wal == len(r.wal) {
		ended = len(r.said)
	}
	for i, said := range r.said {
		rows := b.query(`SELECT assistant <> '' AND stop = 'end_turn' FROM turns WHERE user = ?`, said)
		if len(rows) > 1 || i < ended && (len(rows) == 0 || rows[0][0] != "1") {
			b.t.Errorf("%s: turn %d is there %d times: %q", where, i, len(rows), rows)
		}
	}
	if got := b.query(`SELECT session FROM injections WHERE outcome = 'kept' GROUP BY session HAVING count(*) > 1`); len(got) > 0 {
		b.t.Errorf("%s: sessions were told twice: %q", where, got)
	}
}

// stride is how many operations are left out between two that are tried; make crash tries all.
func stride(otherwise int) int { return number("SIGNET_TEST_CRASH_STRIDE", otherwise) }

// A relay is killed between any two of its writes, and in the middle of one: whoever comes next has every turn whose
// response could have left.
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, base := range map[string]func(*testing.T) []byte{
		"a turn":      func(*testing.T) []byte { return nil },
		"a migration": oldest,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("SIGNET_ACP_MEMORY=embedded", "SIGNET_PORT=1")
			direct, waiting := record(t, base(t), false), record(t, base(t), true)
			tried := 0
			try := func(r *recording, wal, events int) {
				r.put(b, wal, events)
				r.check(b, wal, events)
				tried++
			}
			frame := frameHeader + int(binary.BigEndian.Uint32(direct.wal[8:]))
			frames, lines := (len(direct.wal)-walHeader)/frame, bytes.Count(waiting.events, []byte{'\n'})
			for i := 0; i <= frames; i += stride(17) {
				at := walHeader + i*frame
				try(direct, at, 0)
				try(direct, max(at-frame/2, 0), 0) // torn
			}
			try(direct, len(direct.wal), 0)
			at := 0
			for i := 1; i <= lines; i++ {
				line := bytes.IndexByte(waiting.events[at:], '\n') + 1
				if i%stride(5) == 0 || i == lines {
					try(waiting, 0, at+line/2) // torn
					try(waiting, 0, at+line)
				}
				at += line
			}
			t.Logf("%d appends to the log, %d to the event file; %d prefixes tried", frames, lines, tried)
		})
	}
}

// oldest is the oldest database of a released program.
func oldest(t *testing.T) []byte {
	t.Helper()
	names, err := filepath.Glob("../migrations/testdata/released/*.db.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("no databases: %v", err)
	}
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A command that removes or replaces is killed after ever longer times: the database opens, and a conversation is there
// as a whole, or not at all.
func TestCrashedCommands(t *testing.T) {
	t.Parallel()
	r := record(t, nil, true)
	b := newBox(t)
	b.set("SIGNET_ACP_MEMORY=embedded", "SIGNET_PORT=1")
	r.put(b, len(r.wal), len(r.events))
	backup := filepath.Join(b.Dir, "backup.db")
	b.run(proxyBin, "backup", backup)
	session := b.query(`SELECT acp_id FROM sessions`)[0][0]
	for _, command := range [][]string{
		{"forget", session, "--yes"}, {"forget", session, "--yes", "--for-good"}, {"prune", "--older-than", "1ms", "--yes"}, {"restore", backup},
	} {
		began := time.Now()
		r.put(b, len(r.wal), len(r.events))
		_ = b.try(append([]string{proxyBin}, command...)...)
		whole := time.Since(began)
		kills, gone := number("SIGNET_TEST_CRASH_KILLS", 4), 0
		for n := range kills {
			r.put(b, len(r.wal), len(r.events))
			ctx, cancel := context.WithTimeout(t.Context(), whole*time.Duration(n+1)/time.Duration(kills))
			cmd := b.Command(ctx, nil, append([]string{proxyBin}, command...)...)
			_ = cmd.Run()
			cancel()
			if got := b.try(proxyBin, "sessions"); got.Code != 0 {
				t.Errorf("%q: exit %d\n%s", command, got.Code, got.Stderr)
				continue
			}
			sessions, turns := len(b.query(`SELECT 1 FROM sessions`)), len(b.query(`SELECT 1 FROM turns WHERE user <> ''`))
			if sessions*len(r.said) != turns || b.query(`PRAGMA integrity_check`)[0][0] != "ok" {
				t.Errorf("%q: %d sessions with %d turns", command, sessions, turns)
			}
			if turns == 0 {
				gone++
			}
		}
		t.Logf("%q: killed %d times within %v; %d times it was done", command[0], kills, whole, gone)
	}
}

// A disk takes no more after ever more bytes of a file: of each turn whose response has left it is stored, or a person
// was told.
func TestCrashFull(t *testing.T) {
	t.Parallel()
	tried, silent := 0, 0
	for blocks := 1; blocks <= 120; blocks += stride(23) {
		b := newBox(t)
		b.set("SIGNET_ACP_HOLD=300ms") // what a full disk costs a prompt
		b.run(proxyBin, "sessions")
		b.wrap = []string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$@"`, blocks), "sh"}
		c := b.unleash(t, "well")
		c.begin()
		for n := range 2 {
			c.say(c.session, fmt.Sprintf("Turn %d.", n))
		}
		c.hangUp()
		c.rest()
		c.code()
		b.takeIn()
		kept := len(b.query(`SELECT 1 FROM turns WHERE user LIKE 'Turn %' AND stop = 'end_turn'`))
		tried++
		if c.said() == "" {
			silent++
		}
		if kept < 2 && c.said() == "" {
			t.Errorf("%d blocks: %d turns are kept, and people were told nothing", blocks, kept)
		}
	}
	t.Logf("%d limits, %d of them not told of", tried, silent)
}
