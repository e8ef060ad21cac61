package signet

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// What was met with both daemons that were run (docs/facts/signet-daemon.md, "What they do, and where it is tested"), as far as it
// is the client's.
func TestVersions(t *testing.T) {
	type world struct {
		*testing.T
		kind daemontest.Generation
		d    *daemontest.Daemon
		c    *Client
		s    memory.Session
	}
	large := map[string]string{}
	for name, size := range map[string]int{"AGENTS.md": 12000, "SOUL.md": 4000, "IDENTITY.md": 2000, "USER.md": 6000,
		"MEMORY.md": 10000} {
		large[name] = strings.Repeat(strings.Repeat("x", 79)+"\n", size/80)
	}
	end := func(w *world) EndReply {
		got, err := w.c.End(w.Context(), End{Session: memory.Session{Key: w.s.Key}, File: transcript(w.T, longTalk)})
		if err != nil {
			w.Error(err)
		}
		return got
	}
	recall := func(w *world, prompt string) memory.Context {
		got, err := w.c.Recall(w.Context(), w.s, prompt, nil)
		if err != nil {
			w.Error(err)
		}
		return got
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		do    func(w *world)
	}{
		{"a start's memories are items, its text has them not", nil, func(w *world) {
			id := w.d.Remember("Robin prefers tabs", "preference")
			got, err := w.c.Start(w.Context(), w.s)
			if err != nil || len(got.Items) != 1 || got.Items[0].ID != id ||
				got.Items[0].Text != "Robin prefers tabs" || got.Items[0].Date.IsZero() ||
				strings.Contains(got.Mixed, "Robin prefers tabs") {
				w.Errorf("%+v, %v", got, err)
			}
		}},
		{"32 KB of files leave memories their room", large, func(w *world) {
			w.d.Remember("Robin prefers tabs", "preference")
			got, err := w.c.Start(w.Context(), w.s)
			block, ok := memory.Compose(w.s.Key, got, memory.Context{}, false)
			if err != nil || !ok || !strings.Contains(block.Text, "Robin prefers tabs") || len(block.Items) != 1 {
				w.Errorf("%v, %v, items %v of %d bytes", err, ok, block.Items, len(block.Text))
			}
		}},
		{"the standing preamble is told apart", nil, func(w *world) {
			got, err := w.c.Start(w.Context(), w.s)
			if err != nil || (got.ToolNotes != "") != (w.kind == daemontest.Middle) ||
				strings.Contains(got.Mixed, "mcp__signet__") || !strings.Contains(got.Mixed, "You are Alto") {
				w.Errorf("%+v, %v", got, err)
			}
		}},
		{"a prompt without a known entity is a miss", nil, func(w *world) {
			w.d.Remember("The heron needs the VPN", "fact")
			w.d.Know("bittern")
			if got := recall(w, "where is the heron"); (len(got.Items) == 0) != (w.kind == daemontest.Middle) {
				w.Errorf("%+v", got)
			}
			if got := recall(w, "what time is it"); !got.Empty() {
				w.Errorf("a miss tells %+v", got)
			}
		}},
		{"a prompt stands there as it stands in the transcript", nil, func(w *world) {
			recall(w, "{\n  \"heron\": 1\n}")
			if live := w.d.Live("k"); w.kind == daemontest.Middle && live != "User: { \"heron\": 1 }\n" {
				w.Errorf("%q", live)
			}
			body := w.d.Requests(submitPath)[0].JSON()
			if body["userMessage"] != `{ "heron": 1 }` {
				w.Errorf("sent %v", body["userMessage"])
			}
		}},
		{"bypassed is final, from each hook", nil, func(w *world) {
			w.d.Bypass("k", true)
			if _, err := w.c.Start(w.Context(), w.s); !errors.Is(err, memory.ErrBypassed) {
				w.Errorf("start: %v", err)
			}
			if got := end(w); got != (EndReply{Bypassed: true}) {
				w.Errorf("end: %+v", got)
			}
			before := len(w.d.Requests())
			if _, err := w.c.Recall(w.Context(), w.s, "heron", nil); !errors.Is(err, memory.ErrBypassed) ||
				len(w.d.Requests()) != before {
				w.Errorf("prompt: %v, %d requests more", err, len(w.d.Requests())-before)
			}
		}},
		{"what is too short is not queued; the later one says that it keeps it", nil, func(w *world) {
			got, err := w.c.End(w.Context(), End{Session: memory.Session{Key: "k"}, File: transcript(w.T, "User: hi\n")})
			if want := (EndReply{Dropped: true, Kept: w.kind == daemontest.Middle}); err != nil || got != want {
				w.Errorf("%+v, %v", got, err)
			}
		}},
		{"a second end is taken once the session is said to go on", nil, func(w *world) {
			first, second := end(w), end(w)
			if !first.Queued || second.Duplicate != (w.kind == daemontest.Middle) {
				w.Errorf("%+v, then %+v", first, second)
			}
			w.c.resumed("k")
			if err := w.c.Follow(w.Context(), Prompt{Session: w.s, Text: "on"}, false); err != nil {
				w.Error(err)
			}
			if third := end(w); !third.Queued {
				w.Errorf("after a prompt: %+v", third)
			}
		}},
		{"a resumed session calls one hook before it ends", nil, func(w *world) {
			for range 3 {
				if err := w.c.Follow(w.Context(), Prompt{Session: w.s, Text: "on"}, false); err != nil {
					w.Error(err)
				}
			}
			if n := len(w.d.Requests(submitPath, startPath)); n != 1 {
				w.Errorf("%d hooks", n)
			}
		}},
		{"a prompt does not overtake the start", nil, func(w *world) {
			if _, err := w.c.Start(w.Context(), w.s); err != nil {
				w.Error(err)
			}
			recall(w, "where is the heron")
			var order []string
			for _, r := range w.d.Requests(startPath, submitPath) {
				order = append(order, r.Path)
			}
			if !slices.Equal(order, []string{startPath, submitPath}) {
				w.Errorf("%v", order)
			}
		}},
		{"feedback names the session's key", nil, func(w *world) {
			id := w.d.Remember("Robin prefers tabs", "preference")
			if _, err := w.c.Start(w.Context(), w.s); err != nil {
				w.Error(err)
			}
			reply, err := w.c.Feedback(w.Context(), w.s.Key, map[string]float64{id: 1})
			if err != nil || w.kind == daemontest.Middle && !strings.Contains(string(reply), `"accepted":1`) {
				w.Errorf("%s, %v", reply, err)
			}
		}},
		{"the agent has the name of SIGNET_AGENT_ID", nil, func(w *world) {
			w.c.opts.AgentID = "alto"
			if _, err := w.c.Start(w.Context(), w.s); err != nil ||
				w.d.Requests(startPath)[0].JSON()["agentId"] != "alto" {
				w.Errorf("%v", err)
			}
		}},
		{"presence tells each prompt and what was said before", nil, func(w *world) {
			for range 2 {
				on := Prompt{Session: w.s, Text: "on", Last: "It stands\nin the water."}
				if err := w.c.Follow(w.Context(), on, true); err != nil {
					w.Error(err)
				}
			}
			all := w.d.Requests(submitPath)
			if len(all) != 2 || all[1].JSON()["lastAssistantMessage"] != "It stands in the water." {
				w.Errorf("%d prompts", len(all))
			}
		}},
		{"each prompt is told once, and each answer with the next one", nil, func(w *world) {
			for i, prompt := range []string{"one", "two", "three", "two"} {
				if i%2 == 0 {
					recall(w, prompt)
				}
				last := w.c.TakeAnswer("k") // what a recall has told is gone
				if err := w.c.Follow(w.Context(), Prompt{Session: w.s, Text: prompt, Last: last}, true); err != nil {
					w.Error(err)
				}
				w.c.Answered("k", "to "+prompt)
			}
			var got []string
			for _, r := range w.d.Requests(submitPath) {
				last, _ := r.JSON()["lastAssistantMessage"].(string)
				got = append(got, r.JSON()["userMessage"].(string)+" < "+last)
			}
			if want := []string{"one < ", "two < to one", "three < to two", "two < to three"}; !slices.Equal(got, want) {
				w.Errorf("%q", got)
			}
		}},
		{"what is not offered is said so", nil, func(w *world) {
			if status, err := w.c.Captured(w.Context(), "job-0001", ""); err == nil {
				w.Errorf("a capture: %q", status)
			}
		}},
	} {
		for _, kind := range daemontest.Recorded {
			t.Run(tt.name+", "+kind.Version(), func(t *testing.T) {
				d := daemontest.Start(t, daemontest.Options{Generation: kind, Files: tt.files})
				tt.do(&world{t, kind, d, client(t, d.URL()), memory.Session{Key: "k", Project: "/p"}})
			})
		}
	}
}
