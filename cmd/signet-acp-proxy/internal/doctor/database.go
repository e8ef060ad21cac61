package doctor

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Limits of the check for damage, and of the queries after it.
const (
	checkTime = 30 * time.Second
	askTime   = 10 * time.Second
)

// database checks the database for damage, and lists what is owed.
func (e *examination) database(ctx context.Context) []Finding {
	const check = "database"
	c := e.c
	if _, err := os.Stat(c.DB); errors.Is(err, fs.ErrNotExist) {
		return []Finding{{check, Fine, "none yet; the first session makes " + c.DB, ""}}
	}
	broken := func(err error) []Finding {
		fix := "see docs/troubleshooting.md"
		if errors.Is(err, sqlite.ErrCorrupt) {
			fix = "signet-acp-proxy restore FILE, of a backup; or move " + c.DB + " away: a new one is begun"
		}
		return []Finding{{check, Problem, fmt.Sprintf("database %s: %v", c.DB, err), fix}}
	}
	db, err := migrations.Look(c.DB)
	if err != nil {
		return broken(err)
	}
	defer db.Close()
	state := "whole"
	switch err := checkFile(ctx, db, checkTime); {
	case errors.Is(err, errNotChecked):
		state = "no damage found, " + err.Error()
	case err != nil:
		return broken(err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	missing, err := migrations.Missing(ctx, db)
	if err != nil {
		return broken(err)
	}
	if len(missing) > 0 {
		return []Finding{{check, Note,
			fmt.Sprintf("%s: %s, of an earlier version; the next session brings it up to date", c.DB, state),
			"signet-acp-proxy sessions does it now"}}
	}
	store := correlation.New(db, correlation.Options{LiveDir: c.LiveDir()})
	sessions, live, err := store.Count(ctx)
	if err != nil {
		return broken(err)
	}
	size := int64(0)
	if info, err := os.Stat(c.DB); err == nil {
		size = info.Size()
	}
	found := []Finding{{check, Fine, fmt.Sprintf("%s: %s, %d KiB, %s, %d live", c.DB, state, size/1024,
		term.Count(sessions, "session"), live), ""}}
	owed, err := store.Outstanding(ctx)
	if err != nil {
		return broken(err)
	}
	name := func(row int64) string {
		if v, err := store.Get(ctx, row); err == nil {
			return v.ACPID
		}
		return ""
	}
	return append(found, deliveries(owed, name)...)
}

// errNotChecked says that a file could not be checked to its end in time: it is large, or its disk slow.
var errNotChecked = errors.New("not checked completely")

// checkFile checks the whole file for damage.
func checkFile(ctx context.Context, db *sql.DB, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var result string
	err := db.QueryRowContext(limited, "PRAGMA quick_check(1)").Scan(&result)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return fmt.Errorf("%w within %v", errNotChecked, limit)
	case err != nil:
		return sqlite.Explain(err)
	case result != "ok":
		return fmt.Errorf("%w: %s", sqlite.ErrCorrupt, result)
	}
	return nil
}

// deliveries sums up what is owed. name gives the ACP id of a session's row.
func deliveries(owed []correlation.Delivery, name func(row int64) string) []Finding {
	const check = "deliveries"
	var open, waiting, memories, dead, unknown int
	var deadIn, unknownIn string // a session of each
	var last string
	var oldest time.Time
	for _, v := range owed {
		switch {
		case v.Done.IsZero() && v.Error == "" && v.Lease == "" && v.Due.After(time.Now()):
			waiting++ // until it is worth a job
		case v.Done.IsZero():
			if v.Kind == correlation.KindMemory {
				memories++
			}
			if open++; oldest.IsZero() || v.Owed.Before(oldest) {
				oldest = v.Owed
			}
			if v.Error != "" {
				last = "; last error: " + v.Error
			}
		case v.State == correlation.Dead:
			if dead++; dead == 1 {
				deadIn = cmp.Or(name(v.Session), "SESSION")
			}
		default:
			if unknown++; unknown == 1 {
				unknownIn = cmp.Or(name(v.Session), "SESSION")
			}
		}
	}
	var found []Finding
	if dead > 0 {
		found = append(found, Finding{check, Problem, term.Count(dead, "delivery") + " given up after 14 days",
			"signet-acp-proxy show " + deadIn + " says why; the conversations are still here"})
	}
	if open > 0 {
		found = append(found, Finding{check, Note, term.Count(open, "delivery") + " pending, the oldest since " +
			term.Local(oldest) + last, "signet-acp-proxy deliver --wait"})
	}
	if memories > 0 {
		found = append(found, Finding{check, Note,
			fmt.Sprintf("%s of these that tools stored while the daemon did not answer: kept here meanwhile",
				term.Count(memories, "memory")), ""})
	}
	if waiting > 0 {
		found = append(found, Finding{check, Fine, term.Count(waiting, "delivery") +
			" waiting on purpose, until there is enough to summarise", ""})
	}
	if unknown > 0 {
		found = append(found, Finding{check, Note, term.Count(unknown, "delivery") +
			" without an answer from the daemon",
			"signet-acp-proxy show " + unknownIn + " has the details"})
	}
	if len(found) == 0 {
		found = append(found, Finding{check, Fine, "nothing pending", ""})
	}
	return found
}

// search checks that full-text search works, by using it.
func search(ctx context.Context) []Finding {
	const check = "search"
	if err := tryFullText(ctx); err != nil {
		return []Finding{{check, Problem, fmt.Sprintf("no full-text search: %v; nothing is recalled", err),
			"install a release, or build with: go install " +
				"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest"}}
	}
	return []Finding{{check, Fine, "full-text search works (" + migrations.DriverName + ")", ""}}
}

func tryFullText(ctx context.Context) error {
	db, err := sql.Open(migrations.DriverName, ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx,
		"CREATE VIRTUAL TABLE t USING fts5(text); INSERT INTO t VALUES ('the heron stands in the water')"); err != nil {
		return err
	}
	var found int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM t WHERE t MATCH 'heron'").Scan(&found); err != nil {
		return err
	}
	if found != 1 {
		return errors.New("a table of it finds nothing")
	}
	return nil
}
