//go:build !cgo || !(sqlite_fts5 || fts5)

package migrations

import (
	"database/sql/driver"

	modernc "modernc.org/sqlite"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// DriverName is what this build's driver is called in sql.Open: SQLite translated to Go, for builds without a C
// compiler or without the tag sqlite_fts5. It is the same SQLite, full-text search included.
const DriverName = "sqlite"

// DriverModule is the Go module that it is.
const DriverModule = "modernc.org/sqlite"

var engine = sqlite.Engine{Driver: &modernc.Driver{},
	Pragmas: "_txlock=immediate&_journal_mode=WAL&_synchronous=NORMAL&_foreign_keys=on" +
		"&_pragma=secure_delete(1)&_pragma=cache_size(-1024)",
	Rows: func(rows driver.Rows) driver.Rows { return blobRows{rows} }}

// blobRows have an empty BLOB, which this driver returns as NULL.
type blobRows struct{ driver.Rows }

func (r blobRows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	for i, v := range dest {
		if b, ok := v.([]byte); ok && b == nil {
			dest[i] = []byte{}
		}
	}
	return err
}
