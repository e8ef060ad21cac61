//go:build harnesses

package harnesses

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// Where a compaction takes our block away, identity goes in again with the next prompt; where it stays it does not.
func TestCompaction(t *testing.T) {
	proxy, clients, modules := programs(t)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "harness\tby\tcompacted\tknows who it is")
	for _, tt := range []struct {
		harness, by string
		used        int // tokens, which make it compact by itself
	}{
		{"claude", "/compact", 0},
		{"claude", "itself", 975_000},
		{"opencode", "/compact", 0},
		{"opencode", "itself", 98_000},
		{"codex", "/compact", 0},
		{"copilot", "/compact", 0},
	} {
		t.Run(tt.harness+" by "+strings.Trim(tt.by, "/"), func(t *testing.T) {
			h := harnesses[slices.IndexFunc(harnesses, func(h harness) bool { return h.name == tt.harness })]
			var full atomic.Bool
			model := fakemodel.Start(func(r fakemodel.Request) fakemodel.Reply {
				if len(r.Tools) > 0 && full.CompareAndSwap(true, false) {
					return fakemodel.Reply{Text: "ok", Used: tt.used}
				}
				return fakemodel.Reply{Text: "What was said: the mast is 11.42 metres long."}
			})
			s := h.stage(t, proxy, clients, modules, model)
			c := s.connect(true, "")
			_, session := c.open(s.Work, "")
			c.prompt(session, "How long is the mast of the Curlew?")
			before := asked(model, "How long is the mast")
			if tt.used > 0 {
				full.Store(true)
				c.prompt(session, "Fill it up.")
				c.prompt(session, "Here it compacts.")
			} else {
				c.prompt(session, tt.by)
			}
			c.prompt(session, "Who are you?")
			c.hangUp()
			last := asked(model, "Who are you?")
			compacted := check(t, strings.Count(before, "mast of the Curlew") > strings.Count(last,
				"How long is the mast of the Curlew") ||
				slices.ContainsFunc(model.Requests(), summary), "no compaction: the model was asked\n%s", last)
			knows := check(t, strings.Count(last, "You are Halyard") == 1,
				"%d identities in what the model was asked:\n%s", strings.Count(last, "You are Halyard"), last)
			fmt.Fprintln(w, strings.Join([]string{tt.harness, tt.by, compacted, knows}, "\t"))
			s.alone()
		})
	}
	w.Flush()
}

// summary says whether a request asks for a summary of the conversation.
func summary(r fakemodel.Request) bool {
	said := strings.ToLower(r.System + strings.Join(r.User, "\n"))
	return strings.Contains(said, "detailed summary") || strings.Contains(said, "handoff summary") ||
		strings.Contains(said, "summarize") && len(r.Tools) == 0
}
