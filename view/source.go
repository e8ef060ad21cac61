package view

import (
	"database/sql"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// A Source is what a page is made of.
type Source struct {
	DB          *sql.DB
	Sessions    *correlation.Store
	Memories    *embedded.Store
	Delegations *delegation.Ledger // nil: nothing is said of them
	About       About
}

// About is what the page says about itself and its program.
type About struct {
	Database, Log, Settings string // paths
	Retention               string // how long turns are kept, in words
	Daemon                  string // where what was said is handed over to; "" for nowhere
	Flags                   string // what a command needs to find the same database, with a space before it
}
