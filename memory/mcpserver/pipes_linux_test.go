package mcpserver

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Over named pipes several clients are served beside each other, and after those that left without a word.
func TestPipes(t *testing.T) {
	s := newServer(t, newStore(t))
	below := t.TempDir()
	address, err := s.Pipes(below, robin)
	if err != nil {
		t.Fatal(err)
	}
	var all []*client
	for n := range lanes {
		c := pipeTo(t, address)
		c.ok("memory_store", map[string]any{"content": fmt.Sprintf("Number %d.", n)}, &struct{}{})
		all = append(all, c)
	}
	if err := Pipe(address, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), "connected") {
		t.Errorf("one too many: %v", err)
	}
	for _, c := range all {
		c.Close()
	}
	// one that is killed: it has begun a line, and asked for more than anybody reads
	for n := 0; n < 2*lanes; n++ {
		var to *os.File
		for end := time.Now().Add(patience); to == nil; {
			to, _, err = takeLane(address)
			if err != nil && time.Now().After(end) {
				t.Fatal(err)
			}
		}
		_ = to.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)) // or it waits for what it does not read
		_, _ = fmt.Fprintf(to, "@killed\n%s{", strings.Repeat(strings.Replace(raw, "\n\n", "\n", 1)+"\n", 50)[:50_000])
		to.Close()
	}
	for range 3 {
		pipeTo(t, address).ok("memory_store", map[string]any{"content": strings.Repeat("A long one. ", 5_000)}, &struct{}{})
	}
	s.Release(address)
	for end := time.Now().Add(patience); ; {
		err := Pipe(address, strings.NewReader(raw), io.Discard)
		if err != nil && strings.Contains(err.Error(), "start the agent again") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("released: %v", err)
		}
	}
	if _, err := s.Pipes(filepath.Join(below, "none"), robin); err == nil {
		t.Error("pipes in no folder")
	}
	s.Close()
	if _, err := s.Pipes(below, robin); err == nil {
		t.Error("pipes of a server that has ended")
	}
}
