package runtime

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// A log that cannot be written costs one line, by the name of what is wrong, and nothing else.
func TestLogOnAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	var said bytes.Buffer
	l := NewLog(&config.Config{LogFile: "/dev/full", LogLevel: "info"}, term.Streams{Err: &said})
	defer l.Close()
	log := l.Logger
	for range 3 {
		log.Info().Msg("x")
	}
	if got := said.String(); strings.Count(got, "\n") != 1 ||
		!strings.Contains(got, "no log: write /dev/full: no space left on device") {
		t.Errorf("said %q", got)
	}
}

// Doctor hears of the panics of this version that are not old; the file of them does not grow for ever.
func TestNotedPanics(t *testing.T) {
	dir := t.TempDir()
	c := &config.Config{SignetPath: dir, DB: filepath.Join(dir, "sessions.db")}
	now := time.Now()
	if noted, path, err := NotedPanics(c, now); noted != nil || path != "" || err != nil {
		t.Errorf("without a file: %v, %q, %v", noted, path, err)
	}
	for _, p := range []notedPanic{{At: now, Version: Version, What: "one"}, {At: now, Version: "another", What: "two"},
		{At: now.Add(-2 * time.Hour), Version: Version, What: "old"}, {At: now.Add(time.Second), Version: Version, What: "three"}} {
		if err := note(c, p); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(panicsFile(c), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{\"at\": \n"); errors.Join(err, f.Close()) != nil {
		t.Fatal(err)
	}
	noted, path, err := NotedPanics(c, now)
	if err != nil || len(noted) != 2 || noted[0].What != "one" || noted[1].What != "three" || path != logPath(c) {
		t.Errorf("%+v, %s, %v", noted, path, err)
	}
	if info, err := os.Stat(panicsFile(c)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(panicsFile(c), make([]byte, maxPanics+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := note(c, notedPanic{At: now, Version: Version}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(panicsFile(c)); err != nil || info.Size() > 200 {
		t.Errorf("begun anew, it has %d bytes, %v", info.Size(), err)
	}
}
