//go:build harnesses

package harnesses

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// Where a compaction takes our block away, identity goes in again with the next prompt; where it stays it does not.
func TestCompaction(t *testing.T) {
	for _, tt := range []struct {
		harness, by string
		used        int // tokens, which make it compact by itself
	}{
		{"claude", "/compact", 0},
		{"claude", "itself", 975_000},
		{"opencode", "/compact", 0},
		{"opencode", "itself", 98_000},
		{"codex", "/compact", 0},
		{"gemini", "itself", 600_000},
		{"qwen", "/compress", 0},
		{"pi", "/compact", 0},
		{"copilot", "/compact", 0},
	} {
		t.Run(tt.harness+" by "+strings.Trim(tt.by, "/"), func(t *testing.T) {
			var full sync.Once
			s := named(tt.harness).stage(t, func(r fakemodel.Request) fakemodel.Reply {
				answer := fakemodel.Reply{Text: "What was said: the mast is 11.42 metres long."}
				if tt.used == 0 {
					answer.Used = len(r.Body) / 4 // else some find that they gain nothing by it
				} else if len(r.Tools) > 0 && strings.Contains(strings.Join(r.User, "\n"), "Fill it up.") {
					full.Do(func() { answer = fakemodel.Reply{Text: "ok", Used: tt.used} })
				}
				return answer
			})
			c := s.connect(true, "")
			_, session := c.open(s.Work, "")
			c.prompt(session, "How long is the mast of the Curlew?")
			c.prompt(session, "Read this: "+strings.Repeat("the log of the Curlew says that the wind was fair. ", 2000))
			before := asked(s.model, "How long is the mast")
			what := "identity after /compact"
			if tt.used > 0 {
				what = "… after it compacted by itself"
				c.prompt(session, "Fill it up.")
				c.prompt(session, "Here it compacts.")
			} else {
				c.prompt(session, tt.by)
			}
			c.prompt(session, "Who are you?")
			c.hangUp()
			last := asked(s.model, "Who are you?")
			compacted := strings.Count(before, "How long is the mast") > strings.Count(last, "How long is the mast") ||
				slices.ContainsFunc(s.model.Requests(), summary)
			identities := strings.Count(last, "You are Halyard")
			s.check(what, compacted && identities == 1, "compacted: %v; %d identities in what the model was asked:\n%s",
				compacted, identities, last)
			s.alone()
		})
	}
}

// summary says whether a request asks for a summary of the conversation.
func summary(r fakemodel.Request) bool {
	said := strings.ToLower(r.System + strings.Join(r.User, "\n"))
	return strings.Contains(said, "detailed summary") || strings.Contains(said, "handoff summary") ||
		strings.Contains(said, "summarize") && len(r.Tools) == 0
}
