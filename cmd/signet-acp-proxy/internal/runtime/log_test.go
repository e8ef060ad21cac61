package runtime

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// A log that cannot be written costs one line, by the name of what is wrong, and nothing else.
func TestLogOnAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	var said bytes.Buffer
	l := NewLog(&config.Config{LogFile: "/dev/full", LogLevel: "info"}, term.Streams{Err: &said})
	defer l.Close()
	log := l.Logger()
	for range 3 {
		log.Info().Msg("x")
	}
	if got := said.String(); strings.Count(got, "\n") != 1 ||
		!strings.Contains(got, "no log: write /dev/full: no space left on device") {
		t.Errorf("said %q", got)
	}
}
