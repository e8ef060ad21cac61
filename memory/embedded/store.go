// Package embedded is the memory source that needs no daemon: the person's identity files, and full-text search over
// what earlier sessions said and what was stored, in our own database.
//
// What was said is what is searched: each side of a turn is cut into passages (passages.go), which are ranked with
// their neighbours and the conversation that they are of (rank.go). A first prompt is told what concerns it, or
// nothing (gate.go, tell.go). There is no model in it, and nothing leaves the machine.
package embedded

import (
	"context"
	"database/sql"
	"time"

	"github.com/rs/zerolog"
)

// Options of a Store. The zero value works and has no identity files.
type Options struct {
	SignetPath string // where the identity files are; empty: there are none
	// Files are the identity files that are read, by name; nil: the usual ones.
	Files         []string
	OtherProjects bool // recall from other projects as well
	// how long a prompt may wait for the database; past it the prompt goes with what was found. 0: 100 ms
	RecallLimit time.Duration
	KeepUnused  bool // what is told often and never used ranks as before
	// Erase takes what was forgotten here out of where it stands besides the database. nil: nothing does.
	Erase func(context.Context) error
	Now   func() time.Time // nil: time.Now
	Log   zerolog.Logger
}

// recallTime is how long a prompt may wait for the database, unless Options say otherwise.
const recallTime = 100 * time.Millisecond

// A Store is the embedded memory. It owns neither the database nor its connection. Methods may be called from several
// goroutines, and other processes may use the same database.
type Store struct {
	db   *sql.DB
	opts Options
}

// New returns a store on a database that migrations.Open has opened.
func New(db *sql.DB, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.RecallLimit == 0 {
		o.RecallLimit = recallTime
	}
	return &Store{db: db, opts: o}
}
