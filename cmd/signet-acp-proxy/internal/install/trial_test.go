package install

import (
	"io"
	"testing"
)

// The client and the agent speak to each other, and the agent repeats what it is told.
func TestConverse(t *testing.T) {
	toAgent, clientOut := io.Pipe()
	clientIn, fromAgent := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Echo(toAgent, fromAgent)
		fromAgent.Close()
	}()
	id, answer, err := converse(t.Context(), func() {}, clientOut, clientIn, t.TempDir(), statement)
	if err != nil || id == "" || answer != statement {
		t.Errorf("%q, %q, %v", id, answer, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
