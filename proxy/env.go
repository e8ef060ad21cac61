package proxy

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// An env is what every part of a relay works with.
type env struct {
	o       *Options
	table   *session.Table
	editing atomic.Bool     // the initialize response has named a version that we know
	second  atomic.Bool     // it is version 2
	ctx     context.Context // ends with the relay; fetches run under it
	tasks   *tasks          // fetches and look-ups
	talk    *peopleWriter   // to people
}

// tell tells a person something on stderr, one line.
func (e *env) tell(format string, args ...any) {
	fmt.Fprintf(e.talk, "signet-acp-proxy: "+format+"\n", args...)
}

// edited notes in the log that a frame leaves as another one than it came, so that every difference between what one
// side wrote and what the other side read can be explained: what was done, to whose frame, and by how many bytes. s
// is nil where the frame is no session's. What is injected into prompts is logged for everybody, in resolve.
func (e *env) edited(kind string, s *session.Session, before, after []byte) {
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

// hints reports whether the blocks of an agent's sessions name the memory tool.
func (e *env) hints(agent string) bool {
	return e.o.MCPServer != nil && e.o.ToolHint != nil && e.o.ToolHint(agent)
}
