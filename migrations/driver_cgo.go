//go:build cgo && (sqlite_fts5 || fts5)

package migrations

import (
	"github.com/mattn/go-sqlite3"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// DriverName is what this build's driver is called in sql.Open: SQLite in C, with its full-text search. It needs about
// half the CPU of the one in Go.
const DriverName = "sqlite3"

// DriverModule is the Go module that it is.
const DriverModule = "github.com/mattn/go-sqlite3"

// database/sql gives a connection to one goroutine at a time: it needs no lock of its own.
var engine = sqlite.Engine{Driver: &sqlite3.SQLiteDriver{},
	Pragmas: "_mutex=no&_txlock=immediate&_journal_mode=WAL&_synchronous=NORMAL&_foreign_keys=on" +
		"&_secure_delete=on&_cache_size=-1024&_stmt_cache_size=64"}
