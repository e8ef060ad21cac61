package doctor

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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
	file, err := os.Stat(c.DB)
	if errors.Is(err, fs.ErrNotExist) {
		return fine("none yet; the first session creates %s", c.DB)
	}
	if err != nil {
		return e.broken(err)
	}
	db, err := migrations.Look(c.DB)
	if err != nil {
		return e.broken(err)
	}
	defer db.Close()
	limit := fullTime
	if file.Size() > smallFile && !e.full {
		limit = checkTime
	}
	state := "whole"
	if err := checkFile(ctx, db, limit); errors.Is(err, errNotChecked) {
		state = "no damage found, " + err.Error()
	} else if err != nil {
		return e.broken(err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	missing, err := migrations.Missing(ctx, db)
	if err = cmp.Or(err, migrations.Check(ctx, db)); err != nil {
		return e.broken(err)
	}
	if len(missing) > 0 {
		return note("signet-acp-proxy sessions upgrades it now",
			"%s: %s, of an earlier version; the next session upgrades it, and keeps a copy for a week "+
				"unless it is larger than 2 GiB", c.DB, state)
	}
	head := fmt.Sprintf("%s: %s, %d KiB", c.DB, state, file.Size()/1024)
	found, err := e.contents(ctx, db, head)
	if err != nil {
		return e.broken(err)
	}
	return found
}

// broken says what to do about a database that cannot be read, or not all of it.
func (e *examination) broken(err error) []finding {
	fix := "see docs/troubleshooting.md"
	switch {
	case errors.Is(err, sqlite.ErrCorrupt):
		fix = "signet-acp-proxy restore FILE, with a backup; or move " + e.c.DB +
			" away: a new one is created"
	case errors.Is(err, sqlite.ErrSchema):
		fix = "restore a backup, or back up this database and restore that: it removes what is not ours, and " +
			"creates missing tables empty. Until then, conversations wait in files"
	}
	return problem(fix, "database %s: %v", e.c.DB, err)
}

// contents says what a whole database holds, beginning with head, and what of it needs attention.
func (e *examination) contents(ctx context.Context, db *sql.DB, head string) ([]finding, error) {
	store := correlation.New(db, correlation.Options{LiveDir: e.c.LiveDir()})
	sessions, live, err := store.Book().Count(ctx)
	memories, err2 := embedded.New(db, embedded.Options{}).Count(ctx)
	owed, err3 := store.Debts().Outstanding(ctx)
	slow, err4 := store.Book().Slow(ctx)
	refused, err5 := store.Book().Refused(ctx)
	unextracted, err6 := store.Book().Unextracted(ctx)
	if err := cmp.Or(err, err2, err3, err4, err5, err6); err != nil {
		return nil, err
	}
	found := fine("%s, %s, %d live, %s", head, term.Count(sessions, "session"), live, term.Count(memories, "memory"))
	older := migrations.CopyOf(e.c.DB)
	if kept, err := os.Stat(older); err == nil {
		found = append(found, fine("a copy from before the upgrade of %s is %s until %s; signet-acp-proxy restore "+
			"restores it", term.Local(kept.ModTime()), older, term.Local(kept.ModTime().Add(migrations.CopyTime)))...)
	}
	if time.Since(slow) < slowAge {
		found = append(found, note("put the database on another disk with --db",
			"syncing the disk took seconds at %s, so it is skipped: a power cut may lose more than the last second",
			term.Local(slow))...)
	}
	if refused.Lines > 0 {
		found = append(found, problem("report it with the log; the text is in the table events until its "+
			"session is forgotten", "%s of text could not be stored; the last at %s: %s",
			term.Count(refused.Lines, "piece"), term.Local(refused.Last), refused.Reason)...)
	}
	if unextracted > 0 {
		found = append(found, named("deliveries", fine("%s too short or not extracted by the daemon; the embedded "+
			"memory answers for them", term.Count(unextracted, "turn")))...)
	}
	return append(found, named("deliveries", deliveries(owed, runtime.ConfiguredDaemon(e.c), func(row int64) string {
		s, _ := store.Get(ctx, row) // "": it is gone
		return s.ACPID
	}))...), nil
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

const move = "signet-acp-proxy deliver --to-configured, if that daemon is elsewhere now"

// deliveries sums up what is owed to the daemon and to hooks. name returns the ACP id of a session's row; url is the
// configured daemon's.
func deliveries(owed []correlation.Debt, url string, name func(row int64) string) (found []finding) {
	var dead, due, unknown []correlation.Debt
	waiting := 0
	for _, v := range owed {
		switch {
		case v.Done.IsZero() && v.Error == "" && v.Due.After(time.Now()):
			waiting++ // until it is worth a job
		case v.Done.IsZero():
			due = append(due, v)
		case v.State == correlation.Dead:
			dead = append(dead, v)
		default:
			unknown = append(unknown, v)
		}
	}
	show := func(of []correlation.Debt) string {
		return "signet-acp-proxy show " + cmp.Or(name(of[0].Session), "SESSION")
	}
	if len(dead) > 0 {
		fix := show(dead) + " says why; the conversations are still here"
		if anyElsewhere(dead, url) {
			fix = move
		}
		found = append(found, problem(fix, "%s given up after 14 days", term.Count(len(dead), "delivery"))...)
	}
	if len(due) > 0 {
		found = append(found, pending(due, url)...)
	}
	if waiting > 0 {
		found = append(found, fine("%s waiting for enough text to summarise", term.Count(waiting, "delivery"))...)
	}
	if len(unknown) > 0 {
		found = append(found, note(show(unknown)+" has the details", "%s without an answer from the daemon",
			term.Count(len(unknown), "delivery"))...)
	}
	if len(found) == 0 {
		return fine("nothing pending")
	}
	return found
}

func anyElsewhere(all []correlation.Debt, url string) bool {
	return slices.ContainsFunc(all, func(v correlation.Debt) bool { return v.Elsewhere(url) })
}

// pending says what is due, and since when.
func pending(due []correlation.Debt, url string) []finding {
	last, failed, fix := "", "", "signet-acp-proxy deliver --wait"
	oldest, memories := due[0].Owed, 0
	for _, v := range due {
		failed = cmp.Or(v.Error, failed)
		if v.Owed.Before(oldest) {
			oldest = v.Owed
		}
		if v.Kind == correlation.KindMemory {
			memories++
		}
	}
	if to := runtime.Addressees(due); to != "" {
		last = ": " + to
	}
	if failed != "" {
		last += "; last error: " + failed
	}
	if anyElsewhere(due, url) {
		fix = move
	}
	found := note(fix, "%s pending, the oldest since %s%s", term.Count(len(due), "delivery"), term.Local(oldest), last)
	if memories > 0 {
		found = append(found, note("", "%s among these, stored by tools while the daemon did not answer",
			term.Count(memories, "memory"))...)
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
	found := 0
	db, err := sql.Open(migrations.DriverName, ":memory:")
	if err == nil {
		defer db.Close()
		db.SetMaxOpenConns(1)
		_, err = db.ExecContext(ctx,
			"CREATE VIRTUAL TABLE t USING fts5(text); INSERT INTO t VALUES ('the heron stands in the water')")
	}
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM t WHERE t MATCH 'heron'").Scan(&found)
	}
	if err == nil && found != 1 {
		err = errors.New("one of its tables finds nothing")
	}
	if err != nil {
		return problem("install a release, or build with: go install "+
			"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest",
			"no full-text search, so no recall: %v", err)
	}
	return fine("full-text search works (%s)", migrations.DriverName)
}
