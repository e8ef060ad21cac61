package proxy

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// An env is what all parts of a relay share.
type env struct {
	o        *Options
	table    *session.Table
	editing  atomic.Bool     // the initialize response has named a protocol version that we know
	version2 atomic.Bool     // that is version 2
	ctx      context.Context // ends with the relay; fetches run under it
	tasks    *tasks          // fetches and look-ups
	stderr   *stderrWriter
}

// tell writes one line for people to stderr.
func (e *env) tell(format string, args ...any) {
	fmt.Fprintf(e.stderr, "signet-acp-proxy: "+format+"\n", args...)
}

// logEdit logs, at level debug, that a frame was edited: the kind of edit, the session (nil: none) and by how many
// bytes the frame grew. With it every difference between what one side wrote and what the other read can be explained.
// Injections into prompts are logged in Resolve, at level info.
func (e *env) logEdit(kind string, s *session.Session, before, after []byte) {
	log := e.o.Log.Debug()
	if !log.Enabled() || bytes.Equal(before, after) {
		return
	}
	if s != nil {
		e.table.Update(func(*session.Connection) { log = log.Str("session", s.Label()).Str("key", s.Who.Key) })
	}
	log.Str("kind", kind).Int("bytes", len(after)-len(before)).Msg("edited")
}

// await waits for c, or for ctx to end.
func await(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

// toolHint reports whether blocks for this agent mention the memory tool in a mode of a session; "" is not known.
func (e *env) toolHint(agent, mode string) bool {
	return e.o.MCPServer != nil && e.o.ToolHint != nil && e.o.ToolHint(agent, mode)
}
