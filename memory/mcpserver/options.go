package mcpserver

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// Options of a Server. Store or Daemon must be set.
type Options struct {
	// Store returns the embedded store, and may wait until it is open. It is called for each call of a tool. If nil,
	// only a daemon answers.
	Store func(context.Context) (*embedded.Store, error)
	// Daemon, if not nil, answers while it is there.
	Daemon *signet.Client
	// OtherProjects says that the tools see and change everything that a daemon keeps, not only what belongs to the
	// session's project or to none. The embedded store has an option of its own.
	OtherProjects bool

	// Owe, if not nil, keeps a memory that a tool stored until the daemon is back, and then delivers it; owed is
	// false where no daemon is expected. It is called where the daemon did not take the memory; note holds no private
	// passages and no secrets.
	Owe func(ctx context.Context, who memory.Session, note signet.Note) (owed bool, err error)
	// OnDaemon, if not nil, is called when a daemon answers that did not before.
	OnDaemon func()
	// ToolCache is a file with the tools that daemons had, so that the first list is whole before the daemon has
	// been asked; "": none.
	ToolCache string

	// Harness returns the process that the clients descend from; nil: there is none.
	Harness func() int
	// Refused, if not nil, is called when a program is refused that may be the session's agent's.
	Refused func(why string)

	Rights  Rights        // of the memory tools; zero: all
	Extras  []Extra       // tools beside those of the memory
	Private *privacy.File // what was marked private, in any process; nil: nothing
	Exclude []string      // globs of folders that are neither read nor written for
	Version string        // ours, for clients to see
	Poll    time.Duration // how often a daemon that came or went is noticed; zero: 5 s
	Log     zerolog.Logger
}
