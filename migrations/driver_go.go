//go:build !cgo || !(sqlite_fts5 || fts5)

package migrations

import (
	"database/sql/driver"

	"modernc.org/sqlite"
)

// DriverName is what this build's driver is called in sql.Open: SQLite translated to Go, for builds without a C
// compiler or without the tag sqlite_fts5. It is the same SQLite, full-text search included.
const DriverName = "sqlite"

// DriverModule is the Go module that it is.
const DriverModule = "modernc.org/sqlite"

func newDriver() driver.Driver { return &sqlite.Driver{} }

// alike makes rows of both drivers the same: this one returns an empty BLOB as NULL.
func alike(rows driver.Rows) driver.Rows { return blobRows{rows} }

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

// ourPragmas are the settings of a connection that writes, as this driver's DSN spells them.
const ourPragmas = "_txlock=immediate&_journal_mode=WAL&_synchronous=NORMAL&_foreign_keys=on" +
	"&_pragma=secure_delete(1)&_pragma=cache_size(-1024)"
