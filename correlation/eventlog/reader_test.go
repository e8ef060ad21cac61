package eventlog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// A file is superseded once a later one of its process is being folded in, also where that was folded in, removed and
// forgotten by somebody else; what a process was writing when it died counts as folded in.
func TestSuperseded(t *testing.T) {
	db, dir, remove := correlationtest.Open()
	defer remove()
	store := correlation.New(db, correlation.Options{LiveDir: dir})
	var files [3]*reader
	for n := range files {
		f := fileOf(dir, "p", n+1)
		w, _, err := f.create(header{version, 1, correlation.ProcessInfo{ID: "p"}})
		if err == nil {
			_, err = w.WriteString(`{"at":1,"kind":"key_started","key":"k"}` + "\n" + `{"at":2,"kind":"to`)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		if files[n], err = f.reader(store, zerolog.Nop(), time.Now); err != nil {
			t.Fatal(err)
		}
		defer files[n].close()
	}
	for i, step := range []struct{ file, events, superseded int }{
		{1, 1, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 0}, {2, 0, 1},
	} {
		if step.file == 2 {
			if err := os.Remove(files[2].file.path); err != nil {
				t.Fatal(err)
			}
		}
		did, err := files[step.file].step(t.Context())
		if err != nil || did.events != step.events || did.superseded != (step.superseded == 1) {
			t.Errorf("step %d: %+v, %v", i, did, err)
		}
	}
	if err := files[1].end(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(files[1].file.path)
	if err != nil {
		t.Fatal(err)
	}
	if number, position, err := store.EventPosition(t.Context(), "p"); number != 2 || position != info.Size() || err != nil {
		t.Errorf("folded in up to %d of file %d, want %d of file 2 (%v)", position, number, info.Size(), err)
	}
}

// Whole lines follow a write that broke off.
func TestAppendTorn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := &writer{out: out, torn: true}
	for range 2 {
		if err := w.append([]byte("{}\n")); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(file); string(text) != "\n{}\n{}\n" || w.size != 7 {
		t.Errorf("%q, %d bytes", text, w.size)
	}
}

// Work for all is done by one who began after it was asked for; a failure is no work, what a deadline cuts short is.
func TestTogether(t *testing.T) {
	failure := errors.New("no")
	for name, tt := range map[string]struct {
		done   time.Duration // when somebody began it, from now on; 0: nobody has
		limit  time.Duration // for the work
		err    error
		worked int
		counts bool // as work that was done
	}{
		"nobody has":      {0, time.Hour, nil, 1, true},
		"before we asked": {-time.Hour, time.Hour, nil, 1, true},
		"meanwhile":       {time.Hour, time.Hour, nil, 0, true},
		"it fails":        {0, time.Hour, failure, 1, false},
		"it is cut short": {0, 20 * time.Millisecond, context.DeadlineExceeded, 1, true},
	} {
		file, worked := filepath.Join(t.TempDir(), "turn"), 0
		if at := time.Now().Add(tt.done); tt.done != 0 {
			if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), os.Chtimes(file, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
		err := Together(ctx, file, func(ctx context.Context) error {
			worked++
			if tt.err == failure {
				return failure
			}
			if tt.err != nil {
				<-ctx.Done()
			}
			return nil
		})
		cancel()
		info, statErr := os.Stat(file)
		if !errors.Is(err, tt.err) || worked != tt.worked || statErr != nil || info.Size() > 0 != tt.counts {
			t.Errorf("%s: worked %d times, counts: %v (%v, %v)", name, worked, info.Size() > 0, err, statErr)
		}
	}
}
