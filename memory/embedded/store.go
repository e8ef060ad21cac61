// Package embedded is the memory source that needs no daemon: the person's identity files, and full-text search over
// what earlier sessions said and what was stored, in our own database.
//
// Each side of a turn is cut into passages (package passage). These are searched, and ranked with their neighbours and
// the conversation that they are part of (package rank). A first prompt is told what concerns it, or nothing
// (rank.Query.WorthTelling, tell.go). There is no model in it, and nothing leaves the machine.
package embedded

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Options of a Store. The zero value works and has no identity files.
type Options struct {
	SignetPath string // where the identity files are; empty: there are none
	// Files are the identity files that are read, by name; nil: the usual ones.
	Files         []string
	Exclude       []string // globs of folders that have opted out
	OtherProjects bool     // recall from other projects as well
	NotPersonal   bool     // what a person likes is told only in the project where it was said
	// Erase takes what was forgotten here out of other places that hold it, event files. nil: there are none.
	Erase func(context.Context) error
	// Renames says which files of a work tree were renamed, the new path by the old one. nil: nobody knows.
	Renames func(ctx context.Context, top string) (map[string]string, error)
	Now     func() time.Time // nil: time.Now
	Log     zerolog.Logger
}

// across returns a query as it decides what is told in other projects: the person's own is, unless Options say
// otherwise.
func (s *Store) across(query string) string {
	if s.opts.NotPersonal {
		return strings.NewReplacer("OR m.personal", "OR FALSE", "OR p.personal", "OR FALSE").Replace(query)
	}
	return query
}

// A Store is the embedded memory. It does not close the database. Methods may be called from several goroutines, and
// other processes may use the same database.
type Store struct {
	db   *sql.DB
	opts Options

	mu       sync.Mutex
	followed map[string]time.Time // when renames were looked for, by project
}

// New returns a store on a database that migrations.Open has opened.
func New(db *sql.DB, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{db: db, opts: o, followed: map[string]time.Time{}}
}
