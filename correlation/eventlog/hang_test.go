package eventlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// While a write hangs an end is waited for no longer than its limit; then it goes ahead of what waits, and people are
// told once. What waits beyond the queue is dropped, and that is told, too.
func TestHangingDisk(t *testing.T) {
	var told []string
	l, err := Open(Options{Dir: t.TempDir(), Process: correlation.ProcessInfo{Kind: correlation.Relay},
		Tell: func(line string) { told = append(told, line) }})
	if err != nil {
		t.Fatal(err)
	}
	disk, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l.Append(correlation.KeyStarted{Key: "k"})
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := l.out
	opened := file.out
	file.out = in // takes 64 KB, then nothing until somebody reads
	defer opened.Close()
	words := strings.Repeat("word ", maxText/5-100)
	for range 60 {
		l.Append(correlation.AssistantSaid{Turn: 1, Text: words})
	}
	const turns = 100
	turn := 0
	for ; turn < turns && len(told) == 0; turn++ {
		if err := l.AppendWait(t.Context(), correlation.TurnEnded{Turn: 1 + turn}); !errors.Is(err, ErrNotWritten) {
			t.Fatalf("written: %v", err)
		}
	}
	if turn == 1 || len(told) != 1 || !strings.Contains(told[0], "the disk hangs") {
		t.Errorf("told: %q", told)
	}
	closed := make(chan error, 1)
	go func() {
		_, err := l.Close(t.Context())
		in.Close()
		closed <- err
	}()
	text, err := io.ReadAll(disk) // all at once: the end waits half a second for the disk
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for line := range bytes.Lines(text) {
		if l, err := parse(bytes.TrimSpace(line)); err == nil {
			kinds = append(kinds, correlation.KindOf(l.event))
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	ends := 0
	for i, kind := range kinds {
		if kind == correlation.KindOf(correlation.TurnEnded{}) {
			ends++
			if i > len(kinds)/2 {
				t.Errorf("an end is number %d of %d", i, len(kinds))
			}
		}
	}
	if ends != turn || len(told) != 2 || !strings.Contains(told[1], "could not be saved") {
		t.Errorf("%d ends of %d events; told: %q", ends, len(kinds), told)
	}
}
