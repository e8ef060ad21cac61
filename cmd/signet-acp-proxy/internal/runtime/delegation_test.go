package runtime

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A result goes to the session that asked and does not wait, and is remembered if it is one.
func TestResults(t *testing.T) {
	asked := delegation.Delegation{ID: "01KD0000000000000000000000",
		Request: delegation.Request{Agent: "codex", Mode: "edit", Task: "Read it.", Detach: true},
		Caller:  delegation.Caller{Key: "acp-1", Harness: "claude"}}
	waits, person, nested := asked, asked, asked
	waits.Detach, person.Key, nested.Inside = false, "", "01KP"
	done := delegation.Delegation{State: delegation.Done, Result: delegation.Result{Answer: "Two fail."}}
	for _, tt := range []struct {
		name       string
		d          delegation.Delegation
		o          delegation.Delegation
		told, kept string // "" for nothing
	}{
		{"detached", asked, done, "Delegation 01KD0000000000000000000000 is done. \nTwo fail.",
			"codex was asked (edit, delegation 01KD0000000000000000000000): Read it.\nIt answered: Two fail."},
		{"with changes", waits, delegation.Delegation{State: delegation.Done,
			Result: delegation.Result{Answer: "Done.", Branch: "signet/1", Paths: []string{"a", "b"}}}, "",
			"codex was asked (edit, delegation 01KD0000000000000000000000): Read it.\nIt answered: Done.\n" +
				"Its changes are on the branch signet/1: a, b"},
		{"of a person", person, done, "", "codex was asked"},
		{"of a delegation", nested, done, "", "codex was asked"},
		{"without an answer", asked, delegation.Delegation{State: delegation.Done}, "Delegation 01KD", ""},
		{"that failed", asked, delegation.Delegation{State: "failed", Result: delegation.Result{Reason: "it is gone", Answer: "x"}},
			"Delegation 01KD0000000000000000000000 is failed. it is gone\nx", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("SIGNET_ACP_LOG_FILE", "-")
			c, err := config.Load(config.Flags{SignetPath: t.TempDir(), Memory: "embedded"})
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			d, err := OpenData(t.Context(), c, term.Streams{Err: &said})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			tt.d.State, tt.d.Result = tt.o.State, tt.o.Result
			delegationResult{c, d.DB, d.Log, tt.d}.store(t.Context())
			messages, err := sqlite.Collect(t.Context(), d.DB, sqlite.One[string], `SELECT message FROM messages WHERE recipient = 'acp-1'`)
			told := strings.Join(messages, "\n")
			if err != nil || (told == "") != (tt.told == "") || !strings.HasPrefix(told, tt.told) {
				t.Errorf("told %q, %v; want %q", told, err, tt.told)
			}
			all, err := d.Memories.List(t.Context(), embedded.Filter{Limit: 9})
			kept := ""
			for _, m := range all {
				kept += m.Content
			}
			if err != nil || (kept == "") != (tt.kept == "") || !strings.HasPrefix(kept, tt.kept) {
				t.Errorf("kept %q, %v; want %q", kept, err, tt.kept)
			}
			if said.Len() > 0 {
				t.Errorf("logged: %s", &said)
			}
		})
	}
}
