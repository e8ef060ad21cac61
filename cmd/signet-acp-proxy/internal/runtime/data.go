package runtime

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// commandTime is how long opening the database may take for a command.
const commandTime = time.Minute

// Data is what commands work on. Unlike the relay, commands stop at a mistake in the configuration.
type Data struct {
	Config   *config.Config
	Log      *logFile
	DB       *sql.DB
	Sessions *correlation.Store
	Memories *embedded.Store
}

// WithData opens the data while work runs.
func WithData(f *config.Flags, std term.Streams, work func(ctx context.Context, d *Data) error) error {
	c, err := config.Load(*f)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	d, err := OpenData(ctx, c, std)
	if err != nil {
		return err
	}
	// work has no deadline: an import may take long, and a person can interrupt it
	err = work(context.Background(), d)
	if errors.Is(err, sqlite.ErrSchema) {
		err = cmp.Or(sqlite.While("database "+c.DB, migrations.Check(ctx, d.DB)), err)
	}
	return errors.Join(err, d.Close())
}

// OpenData opens the data of a configuration, and folds in what was recorded and is not in the database yet. The caller
// closes it.
func OpenData(ctx context.Context, c *config.Config, std term.Streams) (*Data, error) {
	db, err := migrations.Open(ctx, c.DB)
	if err != nil {
		return nil, err
	}
	log := NewLog(c, std)
	DropOutdated(c, log)
	d := &Data{
		Config: c, Log: log, DB: db,
		Sessions: NewSessions(c, db, log),
		Memories: NewStore(c, db, log),
	}
	eventlog.FoldAll(ctx, d.Sessions, log.Logger, std.Line)
	return d, nil
}

// NewSessions returns the store of sessions in a database.
func NewSessions(c *config.Config, db *sql.DB, log *logFile) *correlation.Store {
	return correlation.New(db, correlation.Options{LiveDir: c.LiveDir(), Path: c.DB, Schema: migrations.Check,
		Log: log.Logger})
}

// NewStore returns the embedded store in a database.
func NewStore(c *config.Config, db *sql.DB, log *logFile) *embedded.Store {
	sessions := NewSessions(c, db, log)
	erase := func(ctx context.Context) error {
		return errors.Join(eventlog.TakeIn(ctx, sessions, log.Logger), sessions.EmptyEvents(ctx), RemoveShown(c))
	}
	o := embeddedOptions(c)
	o.Erase, o.Renames, o.Log = erase, worktree.Renames, log.Logger
	return embedded.New(db, o)
}

// embeddedOptions are those of a store without a database, which has the identity files.
func embeddedOptions(c *config.Config) embedded.Options {
	return embedded.Options{SignetPath: c.SignetPath, Files: c.IdentityFiles, Exclude: c.Exclude,
		OtherProjects: otherProjects(c), NotPersonal: !c.Personal}
}

// Close closes the database and the log.
func (d *Data) Close() error {
	d.Log.Close()
	return d.DB.Close()
}
