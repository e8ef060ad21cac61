package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// commandTime is how long a command for people may wait for the database.
const commandTime = time.Minute

// A desk is what the commands for people work on. Unlike the relay they stop at a mistake in the configuration.
type desk struct {
	c        *Config
	log      *logFile
	db       *sql.DB
	sessions *correlation.Store
	memories *embedded.Store
}

// atDesk opens a desk for as long as work takes.
func atDesk(f *Flags, std stdio, work func(ctx context.Context, d *desk) error) error {
	c, err := loadConfig(f)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	d, err := openDesk(ctx, c, std)
	if err != nil {
		return err
	}
	return errors.Join(work(ctx, d), d.close())
}

func openDesk(ctx context.Context, c *Config, std stdio) (*desk, error) {
	db, err := migrations.Open(ctx, c.DB)
	if err != nil {
		return nil, err
	}
	log := newLogFile(c, std)
	return &desk{
		c: c, log: log, db: db,
		sessions: correlation.New(db, correlation.Options{LiveDir: c.liveDir(), Log: log.logger()}),
		memories: embedded.New(db, embedded.Options{SignetPath: c.SignetPath, OtherProjects: c.OtherProjects, Log: log.logger()}),
	}, nil
}

func (d *desk) close() error {
	d.log.close()
	return d.db.Close()
}

// liveDir is the folder of the locks of living processes.
func (c *Config) liveDir() string { return filepath.Join(filepath.Dir(c.DB), "live") }

// removeFiles removes transcript files that a forgotten session has left.
func removeFiles(files []string) error {
	var failed error
	for _, name := range files {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("a transcript is left: %w", err))
		}
	}
	return failed
}

// printJSON prints v for scripts.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// local is a time as people read it.
func local(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := cutLast(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func cutLast(s, suffix string) (string, bool) {
	if len(s) > len(suffix) && s[len(s)-len(suffix):] == suffix {
		return s[:len(s)-len(suffix)], true
	}
	return s, false
}
