// Package memory decides what an agent is told about its user and its past: what is said, in which form, how much of
// it, and what is never said.
//
// A Source fetches a Context (the Signet daemon in memory/signet, the embedded store in memory/embedded, Auto over
// both), Compose makes the one block that goes into a prompt. The package opens no connection and no database, and
// knows nothing of ACP beyond the shape of that block.
//
//	start, err := source.Start(ctx, session)
//	...
//	block, ok := memory.Compose(session.Key, start, recall, true)
//	if ok {
//		parts, ok = frame.PrependParts(line, block.JSON(), prompt)
//	}
package memory

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrOwned says that another integration speaks for this session already. Nothing is injected then, from no source.
	ErrOwned = errors.New("the session's memory is owned by another integration")

	// ErrBypassed is an ErrOwned: a person has switched the session off at the daemon. It is final, and the session's
	// transcript is not handed to the daemon either.
	ErrBypassed = fmt.Errorf("%w: bypassed", ErrOwned)

	// ErrUnavailable says that the source is not there: refused, timed out, switched off, its breaker open.
	ErrUnavailable = errors.New("memory source unavailable")

	// ErrKeySpent says that the start of the session's key is in doubt (no answer in time, or the stub that a second
	// start gets). The daemon gives a key's context once, so the session may start again only under a new key.
	ErrKeySpent = errors.New("session key spent")
)

// A Session is what a source may know of a session.
type Session struct {
	Key       string `json:"key"` // the Signet key
	Harness   string `json:"harness,omitempty"`
	Cwd       string `json:"cwd,omitempty"`
	Project   string `json:"project,omitempty"` // as Project gives it
	AgentID   string `json:"agentId,omitempty"`
	ParentKey string `json:"parentKey,omitempty"` // the key of the session that this one was forked from
}

// A Source knows what to tell an agent. Its methods may be called from several goroutines, and return when ctx ends.
// The Contexts that they return are the caller's to change.
type Source interface {
	// Start returns a session's context. It is called at most once for each Key. Errors: ErrOwned, ErrUnavailable,
	// ErrKeySpent, wrapped or not.
	Start(ctx context.Context, s Session) (Context, error)

	// Recall returns what is relevant to a prompt, an empty Context when nothing is. seen are the ids and texts of
	// items that the session was given before. Errors: ErrOwned, ErrUnavailable, wrapped or not.
	Recall(ctx context.Context, s Session, prompt string, seen []string) (Context, error)
}
