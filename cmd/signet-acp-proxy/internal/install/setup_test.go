package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// Of an agent whose adapter comes by npx init says that npx is missing, as doctor does.
func TestNoNpx(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", bin)
	for _, program := range []string{"claude", "gemini"} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var said strings.Builder
	s := Steps{Config: &config.Config{}, Std: term.Streams{Out: &said}, DryRun: true}
	if err := s.clients(); err != nil {
		t.Fatal(err)
	}
	if got := said.String(); !strings.Contains(got, "claude cannot be started yet: npx not found: install Node.js") || strings.Contains(got, "gemini cannot") {
		t.Errorf("it says %q", got)
	}
}
