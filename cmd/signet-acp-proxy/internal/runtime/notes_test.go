package runtime

import (
	"slices"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// Notes go to a person's command, and to the daemon only if they say so and use one.
func TestOwedNotes(t *testing.T) {
	hook, daemon := correlation.KindHook, correlation.KindMemory
	for _, tt := range []struct {
		name string
		c    config.Config
		kept int
		want []string
	}{
		{"neither", config.Config{Memory: "auto"}, 1, nil},
		{"a command", config.Config{Memory: "embedded", OnSessionEnd: []string{"tee"}}, 2, []string{hook}},
		{"the daemon", config.Config{Memory: "daemon", NotesToDaemon: true}, 2, []string{daemon, daemon}},
		{"perhaps a daemon", config.Config{Memory: "auto", NotesToDaemon: true}, 1, []string{daemon}},
		{"no daemon", config.Config{Memory: "embedded", NotesToDaemon: true}, 1, nil},
		{"both", config.Config{Memory: "auto", NotesToDaemon: true, OnSessionEnd: []string{"tee"}}, 1,
			[]string{hook, daemon}},
		{"nothing noted", config.Config{Memory: "auto", NotesToDaemon: true, OnSessionEnd: []string{"tee"}}, 0, nil},
	} {
		var got []string
		for _, d := range owedNotes(&tt.c, make([]embedded.Memory, tt.kept)) {
			got = append(got, d.Kind)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
