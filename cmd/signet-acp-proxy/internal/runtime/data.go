package runtime

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
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
	return errors.Join(work(context.Background(), d), d.Close())
}

// OpenData opens the data of a configuration, and folds in what was recorded and is not in the database yet. The caller
// closes it.
func OpenData(ctx context.Context, c *config.Config, std term.Streams) (*Data, error) {
	db, err := migrations.Open(ctx, c.DB)
	if err != nil {
		return nil, err
	}
	log := NewLog(c, std)
	DropUndo(c, log)
	d := &Data{
		Config: c, Log: log, DB: db,
		Sessions: correlation.New(db, correlation.Options{LiveDir: c.LiveDir(), Log: log.Logger()}),
		Memories: NewStore(c, db, log),
	}
	eventlog.FoldAll(ctx, d.Sessions, log.Logger())
	return d, nil
}

// NewStore returns the embedded store in a database.
func NewStore(c *config.Config, db *sql.DB, log *logFile) *embedded.Store {
	files := eventlog.Sweep{Store: correlation.New(db, correlation.Options{LiveDir: c.LiveDir(), Log: log.Logger()}),
		Log: log.Logger()}
	erase := func(ctx context.Context) error { return errors.Join(files.EraseFolded(ctx), RemovePage(c)) }
	return embedded.New(db, embedded.Options{SignetPath: c.SignetPath, Files: c.IdentityFiles,
		OtherProjects: c.OtherProjects, NotPersonal: !c.Personal, RecallLimit: c.DatabaseWait,
		Erase: erase, Log: log.Logger()})
}

// Close closes the database and the log.
func (d *Data) Close() error {
	d.Log.Close()
	return d.DB.Close()
}
