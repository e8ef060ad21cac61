package proxy

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// An env is what all parts of a relay share. It is also what goes on beside the conversation (session.Beside).
type env struct {
	o         *Options
	talk      *session.Owner // of the sessions
	file      Events         // nil: the relay is a byte pump
	database  *database
	recorder  *recorder
	client    atomic.Pointer[clientHello] // empty before its initialize
	agent     atomic.Pointer[agentHello]  // empty before it has answered that
	refusable sync.Map                    // ids (idKey) of the harness's requests that acpx would answer
	ctx       context.Context             // ends with the relay; fetches run under it
	tasks     tasks                       // fetches and look-ups
}

// editing reports whether the initialize response has named a protocol version that we know.
func (e *env) editing() bool { return e.agent.Load().version != "" }

// version2 reports whether that is version 2.
func (e *env) version2() bool { return e.agent.Load().version == version2 }

// tell writes one line for people to stderr.
func (e *env) tell(format string, args ...any) {
	fmt.Fprintf(e.o.Client.Stderr, "signet-acp-proxy: "+format+"\n", args...)
}

// logEdit logs, at level debug, that a frame was edited: the kind of edit, the session (nil: none) and by how many
// bytes the frame grew. With it every difference between what one side wrote and what the other read can be explained.
// Injections into prompts are logged as they leave (up.release), at level info.
func (e *env) logEdit(kind string, s *session.Session, before, after []byte) {
	log := e.o.Log.Debug()
	if !log.Enabled() || bytes.Equal(before, after) {
		return
	}
	if s != nil {
		log = log.Str("session", s.Label()).Str("key", s.Known().Who.Key)
	}
	log.Str("kind", kind).Int("bytes", len(after)-len(before)).Msg("edited")
}

// settled returns what is known of a session once the ledger has answered, or so long has passed.
func (e *env) settled(s *session.Session, limit time.Duration) session.Known {
	ctx, cancel := context.WithTimeout(e.ctx, limit)
	defer cancel()
	e.talk.Await(ctx, func(*session.Connection) bool { return s.Settled() })
	return s.Known()
}

// A clientHello is what an initialize request says.
type clientHello struct {
	session.Program
	version string // of the protocol that it asks for
	notices bool   // it asks for notice updates
	chained bool   // it asks for a proxy of a chain, which we are not
}

// An agentHello is what an initialize response says, and what is known of who has given it.
type agentHello struct {
	session.Program
	traits       session.Traits
	version      string   // of the protocol; "" for one whose frames are not edited
	systemPrompt bool     // it takes a system prompt
	servers      []string // the kinds of MCP servers that it takes (version 2)
}
