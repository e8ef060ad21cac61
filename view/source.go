package view

import (
	"database/sql"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// A Source is where a page reads from.
type Source struct {
	DB          *sql.DB
	Sessions    correlation.Book
	Memories    *embedded.Store
	Delegations *delegation.Ledger // nil: the page shows none
	About       About
}

// About is what the page says about itself and its program.
type About struct {
	Database, Log, Settings string // paths
	Retention               string // how long turns are kept, in words
	Daemon                  string // the daemon that turns are delivered to; "" for none
	Flags                   string // what a command needs to find the same database, with a space before it
}
