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

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Limits of the check for damage, and of the queries after it.
const (
	checkTime = 500 * time.Millisecond // of a large file: a person waits for it
	smallFile = 64 << 20
	fullTime  = time.Hour
	askTime   = 10 * time.Second
	slowAge   = 14 * 24 * time.Hour // a slow disk that was noted before is not named any more
)

// database checks the database for damage, and lists what is owed.
func (e *examination) database(ctx context.Context) []finding {
	c := e.c
	if _, err := os.Stat(c.DB); errors.Is(err, fs.ErrNotExist) {
		return fine("none yet; the first session creates %s", c.DB)
	}
	broken := func(err error) []finding {
		fix := "see docs/troubleshooting.md"
		switch {
		case errors.Is(err, sqlite.ErrCorrupt):
			fix = "signet-acp-proxy restore FILE, with a backup; or move " + c.DB +
				" away: a new one is created"
		case errors.Is(err, sqlite.ErrSchema):
			fix = "restore a backup, or back up this database and restore that: it removes what is not ours, and " +
				"creates missing tables empty. Until then, conversations wait in files"
		}
		return problem(fix, "database %s: %v", c.DB, err)
	}
	db, err := migrations.Look(c.DB)
	if err != nil {
		return broken(err)
	}
	defer db.Close()
	state := "whole"
	limit := fullTime
	if info, err := os.Stat(c.DB); err == nil && info.Size() > smallFile && !e.full {
		limit = checkTime
	}
	switch err := checkFile(ctx, db, limit); {
	case errors.Is(err, errNotChecked):
		state = "no damage found, " + err.Error()
	case err != nil:
		return broken(err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	missing, err := migrations.Missing(ctx, db)
	if err == nil {
		err = migrations.Check(ctx, db)
	}
	if err != nil {
		return broken(err)
	}
	if len(missing) > 0 {
		return note("signet-acp-proxy sessions upgrades it now",
			"%s: %s, of an earlier version; the next session upgrades it, and keeps a copy for a week "+
				"unless it is larger than 2 GiB", c.DB, state)
	}
	store := correlation.New(db, correlation.Options{LiveDir: c.LiveDir()})
	sessions, live, err := store.Book().Count(ctx)
	if err != nil {
		return broken(err)
	}
	memories, err := embedded.New(db, embedded.Options{}).Count(ctx)
	if err != nil {
		return broken(err)
	}
	size := int64(0)
	if info, err := os.Stat(c.DB); err == nil {
		size = info.Size()
	}
	found := fine("%s: %s, %d KiB, %s, %d live, %s", c.DB, state, size/1024, term.Count(sessions, "session"),
		live, term.Count(memories, "memory"))
	if kept, err := os.Stat(migrations.CopyOf(c.DB)); err == nil {
		found = append(found, fine("a copy from before the upgrade of %s is %s until %s; signet-acp-proxy restore "+
			"restores it", term.Local(kept.ModTime()), migrations.CopyOf(c.DB),
			term.Local(kept.ModTime().Add(migrations.CopyTime)))...)
	}
	owed, err := store.Debts().Outstanding(ctx)
	if err != nil {
		return broken(err)
	}
	name := func(row int64) string {
		if v, err := store.Get(ctx, row); err == nil {
			return v.ACPID
		}
		return ""
	}
	slow, err := store.Book().Slow(ctx)
	if err != nil {
		return broken(err)
	}
	if time.Since(slow) < slowAge {
		found = append(found, note("put the database on another disk with --db",
			"syncing the disk took seconds at %s, so it is skipped: a power cut may lose more than the last second",
			term.Local(slow))...)
	}
	refused, err := store.Book().Refused(ctx)
	if err != nil {
		return broken(err)
	}
	if refused.Lines > 0 {
		found = append(found, problem("report it with the log; the text is in the table events until its "+
			"session is forgotten", "%s of text could not be stored; the last at %s: %s",
			term.Count(refused.Lines, "piece"), term.Local(refused.Last), refused.Reason)...)
	}
	unextracted, err := store.Book().Unextracted(ctx)
	if err != nil {
		return broken(err)
	}
	if unextracted > 0 {
		found = append(found, named("deliveries", fine("%s too short or not extracted by the daemon; the embedded "+
			"memory answers for them", term.Count(unextracted, "turn")))...)
	}
	return append(found, named("deliveries", sumUp(owed, runtime.ConfiguredDaemon(c), name).findings())...)
}

// errNotChecked says that a file could not be checked to its end in time: it is large, or its disk slow.
var errNotChecked = errors.New("checked in part")

// checks are statements that each check a part of the file, what is small first: the tables, and then (checkRest) what
// is of none, free pages and the search index, whose words SQLite makes anew to compare them. quick_check does not
// compare the indexes of a table with its rows: a turn that the index lacks is missing in `log`. For all tables that
// takes three times as long (docs/facts/performance.md), so only the words get it.
const (
	checks = `SELECT 'SELECT * FROM pragma_' || iif(name IN ('sessions', 'turns'), 'integrity', 'quick') ||
		'_check(''' || name || ''') LIMIT 1' FROM sqlite_schema WHERE type = 'table' AND rootpage > 0
		ORDER BY name LIKE 'passages%' OR name = 'events', name = 'turns', name`
	checkRest = `SELECT * FROM pragma_quick_check LIMIT 1`
)

// checkFile checks a file for damage, as much of it as there is time for.
func checkFile(ctx context.Context, db *sql.DB, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	parts, err := sqlite.Collect(limited, db, sqlite.One[string], checks)
	for _, check := range append(parts, checkRest) {
		result := "ok"
		if err == nil {
			err = db.QueryRowContext(limited, check).Scan(&result)
		}
		switch late := err != nil && limited.Err() != nil && ctx.Err() == nil; {
		case late && len(parts) > 0 && check == checkRest:
			return fmt.Errorf("%w: doctor --full also checks the search index", errNotChecked)
		case late:
			return fmt.Errorf("%w within %v: doctor --full checks all", errNotChecked, limit)
		case err != nil:
			return sqlite.Explain(err)
		case result != "ok":
			return fmt.Errorf("%w: %s", sqlite.ErrCorrupt, result)
		}
	}
	return nil
}

// debts sums up what is owed to the daemon and to hooks.
type debts struct {
	open, memories int                // what is due, and how many of these are memories
	oldest         time.Time          // of what is due
	failed         string             // the last error of what is due
	to             []correlation.Debt // what is due
	elsewhere      bool               // some of that is for another address than the configured one
	deadElsewhere  bool               // some was given up there
	waiting        int                // until it is worth a job
	dead, unknown  int                // given up, or without an answer
	deadIn         string             // the ACP id of a session with one that was given up
	unknownIn      string
}

// sumUp sums up what is owed. name returns the ACP id of a session's row; url is the configured daemon's.
func sumUp(owed []correlation.Debt, url string, name func(row int64) string) (d debts) {
	for _, v := range owed {
		switch {
		case v.Done.IsZero() && v.Error == "" && v.Due.After(time.Now()):
			d.waiting++
		case v.Done.IsZero():
			if v.Kind == correlation.KindMemory {
				d.memories++
			}
			if d.open++; d.oldest.IsZero() || v.Owed.Before(d.oldest) {
				d.oldest = v.Owed
			}
			d.failed = cmp.Or(v.Error, d.failed)
			d.to, d.elsewhere = append(d.to, v), d.elsewhere || v.Elsewhere(url)
		case v.State == correlation.Dead:
			if d.dead++; d.dead == 1 {
				d.deadIn = cmp.Or(name(v.Session), "SESSION")
			}
			d.deadElsewhere = d.deadElsewhere || v.Elsewhere(url)
		default:
			if d.unknown++; d.unknown == 1 {
				d.unknownIn = cmp.Or(name(v.Session), "SESSION")
			}
		}
	}
	return d
}

func (d debts) findings() (found []finding) {
	const move = "signet-acp-proxy deliver --to-configured, if that daemon is elsewhere now"
	if d.dead > 0 {
		fix := "signet-acp-proxy show " + d.deadIn + " says why; the conversations are still here"
		if d.deadElsewhere {
			fix = move
		}
		found = append(found, problem(fix, "%s given up after 14 days", term.Count(d.dead, "delivery"))...)
	}
	if d.open > 0 {
		last, fix := "", "signet-acp-proxy deliver --wait"
		if to := runtime.Addressees(d.to); to != "" {
			last = ": " + to
		}
		if d.failed != "" {
			last += "; last error: " + d.failed
		}
		if d.elsewhere {
			fix = move
		}
		found = append(found, note(fix, "%s pending, the oldest since %s%s", term.Count(d.open, "delivery"),
			term.Local(d.oldest), last)...)
	}
	if d.memories > 0 {
		found = append(found, note("", "%s among these, stored by tools while the daemon did not answer",
			term.Count(d.memories, "memory"))...)
	}
	if d.waiting > 0 {
		found = append(found, fine("%s waiting for enough text to summarise",
			term.Count(d.waiting, "delivery"))...)
	}
	if d.unknown > 0 {
		found = append(found, note("signet-acp-proxy show "+d.unknownIn+" has the details",
			"%s without an answer from the daemon", term.Count(d.unknown, "delivery"))...)
	}
	if len(found) == 0 {
		return fine("nothing pending")
	}
	return found
}

// events names the event files that nobody can take in.
func (e *examination) events() (found []finding) {
	if e.c.DB == "" { // nobody has named a folder
		return nil
	}
	alone, err := eventlog.LeftAlone(e.c.LiveDir())
	if err != nil {
		return note("", "%v", err)
	}
	for _, why := range alone {
		found = append(found, problem("run the version that wrote it once; if the file is damaged, move it away",
			"some text is missing from the database: %v", why)...)
	}
	return found
}

// search checks that full-text search works, by using it.
func search(ctx context.Context) []finding {
	if err := tryFullText(ctx); err != nil {
		return problem("install a release, or build with: go install "+
			"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest",
			"no full-text search, so no recall: %v", err)
	}
	return fine("full-text search works (%s)", migrations.DriverName)
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
		return errors.New("one of its tables finds nothing")
	}
	return nil
}
