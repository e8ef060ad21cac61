package install

import (
	"io"
	"log/slog"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/echo"
)

// The client and the agent speak to each other, and the agent repeats what it is told.
func TestConverse(t *testing.T) {
	toAgent, clientOut := io.Pipe()
	clientIn, fromAgent := io.Pipe()
	go func() {
		var c echo.Client
		c.Serve(echo.New(&c, "echo", ""), toAgent, fromAgent, slog.DiscardHandler)
		fromAgent.Close()
	}()
	id, answer, err := converse(t.Context(), func() {}, clientOut, clientIn, t.TempDir(), statement)
	if err != nil || id == "" || answer != statement {
		t.Errorf("%q, %q, %v", id, answer, err)
	}
}
