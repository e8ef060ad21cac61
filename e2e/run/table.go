package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

// table prints what the proxy has on record of the sessions under a Signet path, newest first.
func table(ctx context.Context, w io.Writer, signetPath string) error {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(signetPath, "acp", "sessions.db")+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT acp_id, record, harness, state, key, started,
		(SELECT count(*) FROM turns t WHERE t.session = s.id), (SELECT count(*) FROM injections i WHERE i.session = s.id)
		FROM sessions s ORDER BY started DESC LIMIT 20`)
	if err != nil {
		return fmt.Errorf("sessions on record: %w", err)
	}
	defer rows.Close()
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "SESSION\tACPX RECORD\tHARNESS\tSTATE\tTURNS\tCONTEXTS\tSTARTED\tSIGNET KEY")
	for rows.Next() {
		var id, record, harness, state, key string
		var started, turns, contexts int64
		if err := rows.Scan(&id, &record, &harness, &state, &key, &started, &turns, &contexts); err != nil {
			return err
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", id, record, harness, state, turns, contexts, time.UnixMilli(started).Format(time.TimeOnly), key)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return tw.Flush()
}
