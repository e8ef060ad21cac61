package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// 300,000 updates arrive in order, none lost, at a client that stops reading for two seconds in the middle; the proxy
// keeps none of them meanwhile.
func TestManyUpdates(t *testing.T) {
	t.Parallel()
	const (
		updates = 300_000
		pause   = 2 * time.Second
		warm    = updates / 2
		most    = 5 << 10 // KiB more than when so many have passed and all of the program is in memory
	)
	b := newBox(t)
	c := b.unleash(t, "flood="+strconv.Itoa(updates))
	c.begin()
	start := 0
	c.sendPrompt("Go on.")
	if err := c.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for i := range updates {
		if i == warm {
			start = peakMemory(b, c.cmd.Process.Pid)
			time.Sleep(pause)
		}
		line, err := c.read.ReadSlice('\n')
		if err != nil {
			t.Fatalf("update %d: %v", i, err)
		}
		if want := numbered(c.session, i); !bytes.Equal(line, want) {
			t.Fatalf("update %d is %s, want %s", i, line, want)
		}
	}
	c.until(`"stopReason":"end_turn"`)
	if peak := peakMemory(b, c.cmd.Process.Pid); peak-start > most {
		t.Errorf("the proxy took %d KiB, %d of them by update %d, want at most %d more", peak, start, warm, most)
	} else {
		t.Logf("the proxy took %d KiB, %d of them by update %d", peak, start, warm)
	}
	c.hangUp()
	c.rest()
	if code := c.code(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// peakMemory is the most that a process has had in memory, in KiB.
func peakMemory(b *box, pid int) int {
	b.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(b, err)
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	must(b, err)
	return kib
}
