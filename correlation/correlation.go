// Package correlation keeps in SQLite what outlives a process: which ACP session is which Signet key, whether a session
// has had its context, what was inserted word for word, what was said, and what is still owed to the daemon. It knows
// no ACP frames, links no driver and makes no requests; package migrations opens the database and applies the schema.
//
//	db, err := migrations.Open(ctx, path)
//	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(acpDir, "live")})
//	process, err := store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "auto"})
//	err = store.Batch(ctx, process.ID(), func(b *correlation.Batch) error {
//		return b.Apply(correlation.Opened{Session: 1, Open: correlation.OpenSession{Harness: "claude", ACPID: id}})
//	})
//	session, err := store.Find(ctx, "claude", id)
//	_, err = store.Claim(ctx, session.ID, []correlation.State{correlation.Armed}, process.ID(), injection)
//	…
//	err = process.End(ctx, "eof")
//
// Two processes may hold one session at once, so every change of state is a compare-and-set. A process is alive as long
// as it holds an OS file lock; the claims of a dead one are free at once, without any clock.
//
// Every method returns by its context's deadline, also while another process holds the database. Methods may be called
// from several goroutines.
//
// Where a rule is: event.go lists what can happen, and fold.go says what each of that writes (opening.go for the
// beginning of a session, fold_turn.go for what is said). state.go has the states of a session's context, claim.go who
// may insert. process.go, alive.go and end.go are the life of a process. session.go and turn.go are the rows, said.go a
// turn as it is learned from, use.go what became of what a block told. owed.go says what is owed, due.go when,
// selection.go with which turns, outcome.go and entry.go what became of a post, job.go what the daemon made of it.
// prune.go and forgotten.go remove; importer.go and import.go take in.
package correlation

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What callers branch on.
var (
	ErrNotFound     = errors.New("not found")
	ErrAmbiguous    = errors.New("type more of the id")
	ErrStateChanged = errors.New("the state has changed")
	ErrNothingDue   = errors.New("nothing is due")
	ErrTaken        = errors.New("another process has this id")
)

// Options of a Store. The zero value works, but knows nothing of living processes.
type Options struct {
	// LiveDir is the folder of the lock files of living processes ($SIGNET_PATH/acp/live), made when needed. Empty: no
	// process can be registered, and every other one counts as alive.
	LiveDir string
	// Path is the database's file. Empty: it is taken to stay where it is.
	Path string
	// Schema compares the database's schema with what this version makes (migrations.Check). nil: it counts as whole.
	Schema func(context.Context, *sql.DB) error
	Now    func() time.Time // nil: time.Now
	Log    zerolog.Logger
}

// A Store is the tables of package migrations as those see it that record and keep: relays, importers, whoever forgets
// and prunes. It owns neither the database nor its connection.
type Store struct{ *core }

// A Book is what those ask of the same tables that only read: pages, reports, delegations.
type Book struct{ *core }

// Debts are what those do with them that deliver.
type Debts struct{ *core }

// Book returns the store's Book.
func (s *Store) Book() Book { return Book{s.core} }

// Debts returns the store's Debts.
func (s *Store) Debts() Debts { return Debts{s.core} }

// core is what they have in common.
type core struct {
	db     *sql.DB
	live   string
	path   string // the database's
	schema func(context.Context, *sql.DB) error
	now    func() time.Time
	log    zerolog.Logger
}

// New returns a store on a database that migrations.Open has opened.
func New(db *sql.DB, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Schema == nil {
		o.Schema = func(context.Context, *sql.DB) error { return nil }
	}
	return &Store{&core{db: db, live: o.LiveDir, path: o.Path, schema: o.Schema, now: o.Now, log: o.Log}}
}

// SyncLog has the system bring the database's log to the disk itself, and returns the log's size. What is only
// committed survives a kill, but no power cut.
func (s *Store) SyncLog() (size int64, err error) {
	log, err := os.OpenFile(s.path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return 0, ignoreMissing(err) // of a database whose path nobody has named, too
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), log.Sync()
}

// Schema checks that tables, indexes and triggers are ours. What they refuse meanwhile can be stored once they are. It
// outlasts ctx by a little: who knows why nothing is stored must be able to say so.
func (s *Store) Schema(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), schemaLimit)
	defer cancel()
	return s.schema(ctx, s.db)
}

const schemaLimit = time.Second

// LiveDir is the folder of the locks, and of the event files, of living processes; "" for none.
func (s *core) LiveDir() string { return s.live }

// write runs f in a transaction. doing says in the error what was being done.
func (s *core) write(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	var changed error // committed all the same: freshState may have put a dead process's session in doubt
	err := sqlite.Write(ctx, s.db, doing, func(tx *sql.Tx) error {
		err := f(tx)
		if errors.Is(err, ErrStateChanged) || errors.Is(err, ErrIllegalStep) {
			changed, err = err, nil
		}
		return err
	})
	if err == nil {
		err = sqlite.While(doing, changed)
	}
	return err
}

// change is write for a single statement.
func (s *core) change(ctx context.Context, doing, query string, args ...any) error {
	return s.mustChange(ctx, doing, nil, query, args...)
}

// mustChange is write for a single statement. It returns none if that changes no row.
func (s *core) mustChange(ctx context.Context, doing string, none error, query string, args ...any) error {
	return s.write(ctx, doing, func(tx *sql.Tx) error { return sqlite.MustHit(ctx, tx, none, query, args...) })
}

// orNotFound turns the absence of a row into ErrNotFound.
func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// collect is sqlite.Collect with an error that says what was being done.
func collect[T any](
	ctx context.Context, q sqlite.Querier, doing string, scan func(sqlite.Row) (T, error), query string, args ...any,
) ([]T, error) {
	all, err := sqlite.Collect(ctx, q, scan, query, args...)
	return all, sqlite.While(doing, err)
}

// value returns the only column of a query's only row, with such an error.
func value[T any](ctx context.Context, q sqlite.Querier, doing, query string, args ...any) (T, error) {
	v, err := sqlite.One[T](q.QueryRowContext(ctx, query, args...))
	return v, sqlite.While(doing, err)
}
