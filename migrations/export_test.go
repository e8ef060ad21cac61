package migrations

import (
	"context"
	"database/sql"
	"io/fs"
)

// Schema is the files of the schema.
var Schema fs.FS = files

// OpenWith is Open with another schema.
func OpenWith(ctx context.Context, path string, schema fs.FS) (*sql.DB, error) {
	return open(ctx, path, schema)
}
