//go:build unix

package view

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is made to be slow to set is set in the time that long prose takes, as far as that matters. The time is the
// processor's: a busy machine takes none of it.
func TestSetIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	set := func(text string) time.Duration {
		body := strings.Repeat(text, 3*maxMarkdown/len(text))
		before := used()
		_ = excerpt{Body: body}.Set()
		return used() - before
	}
	floor := max(set("How long is the mast? "), time.Millisecond)
	for _, text := range []string{"[", "![", "**a ", "_a *b ", "*a_", ">", "- ", "1. ", "`a ``", "|", "|a|\n|-|\n", "<", "\\",
		"[a](", "[](", "\t"} {
		if took := set(text); took > 300*floor {
			t.Errorf("%q takes %v, prose %v", text, took, floor)
		}
	}
}
