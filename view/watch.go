package view

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// lookPause is how long a watch waits before it looks again, while a window is open.
const lookPause = 300 * time.Millisecond

// A watch tells windows what has changed in the database: "memories", "sessions" (some went, or came), "session 12".
type watch struct {
	db *sql.DB

	mu      sync.Mutex
	windows map[chan string]bool
	news    chan struct{} // closed, and another, when a window opens or closes
}

func newWatch(db *sql.DB) *watch {
	return &watch{db: db, windows: map[chan string]bool{}, news: make(chan struct{})}
}

// A snapshot of the database: what differs from it later has changed.
type snapshot struct {
	version            int64 // of the database, as other processes change it
	memories, sessions string
	asked              string // how many delegations there are, and how far they are
	event              int64  // the last one that was seen
	open               []int64
}

// run looks until the context ends.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	var seen snapshot
	for {
		if now, changes, err := w.look(ctx, seen); err == nil { // else again in a moment
			if seen.version != 0 {
				for _, change := range changes {
					w.changed(change)
				}
			}
			seen = now
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look gives what is there now, and what of it was not seen.
func (w *watch) look(ctx context.Context, seen snapshot) (now snapshot, changes []string, err error) {
	if err := w.db.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&now.version); err != nil {
		return now, nil, err
	}
	if now.version == seen.version {
		return seen, nil, nil
	}
	if err := w.db.QueryRowContext(ctx, `SELECT
		(SELECT count(*) || ' ' || coalesce(max(id), 0) || ' ' || coalesce(max(updated), 0) FROM memories) || ' ' ||
		(SELECT count(*) || ' ' || coalesce(sum(used), 0) FROM passages_told),
		(SELECT count(*) || ' ' || coalesce(max(id), 0) FROM sessions),
		(SELECT count(*) || ' ' || coalesce(max(id), '') || ' ' || coalesce(max(ended), 0) FROM delegations) || ' ' ||
		(SELECT coalesce(group_concat(state || acp_id || progress), '') FROM delegations WHERE ended = 0),
		(SELECT coalesce(max(id), 0) FROM events)`).
		Scan(&now.memories, &now.sessions, &now.asked, &now.event); err != nil {
		return now, nil, err
	}
	now.open, err = sqlite.Collect(ctx, w.db, sqlite.One[int64], `SELECT DISTINCT session FROM turns WHERE ended = 0`)
	if err != nil {
		return now, nil, err
	}
	told, err := sqlite.Collect(ctx, w.db, sqlite.One[int64],
		`SELECT DISTINCT session FROM events WHERE id > ? AND session IS NOT NULL`, seen.event)
	if err != nil {
		return now, nil, err
	}
	if now.memories != seen.memories {
		changes = append(changes, "memories")
	}
	if now.sessions != seen.sessions || now.asked != seen.asked {
		return now, append(changes, "sessions"), nil
	}
	done := map[int64]bool{}
	for _, ids := range [][]int64{told, now.open, seen.open} {
		for _, id := range ids {
			if !done[id] {
				done[id] = true
				changes = append(changes, fmt.Sprint("session ", id))
			}
		}
	}
	return now, changes, nil
}

// changed tells every window. One that does not listen is told of less: it will have all of it with the next.
func (w *watch) changed(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for window := range w.windows {
		select {
		case window <- what:
		default:
		}
	}
}

// mostNews are kept for a window that is slow.
const mostNews = 256

// tell is a window's ear: it stays open for as long as the window is.
func (w *watch) tell(rw http.ResponseWriter, r *http.Request) {
	window := make(chan string, mostNews)
	w.turn(func() { w.windows[window] = true })
	defer w.turn(func() { delete(w.windows, window) })
	rw.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(rw)
	_, err := fmt.Fprint(rw, "retry: 500\n\n")
	for err == nil && out.Flush() == nil {
		select {
		case <-r.Context().Done():
			return
		case what := <-window:
			_, err = fmt.Fprintf(rw, "data: %s\n\n", strings.ReplaceAll(what, "\n", " "))
		}
	}
}

// turn changes which windows are open.
func (w *watch) turn(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	close(w.news)
	w.news = make(chan struct{})
}

// untilLeft waits until windows have been open and none has been for as long as grace, or the context ends.
func (w *watch) untilLeft(ctx context.Context, grace time.Duration) {
	visited := false
	for {
		w.mu.Lock()
		open, news := len(w.windows), w.news
		w.mu.Unlock()
		visited = visited || open > 0
		var left <-chan time.Time
		if visited && open == 0 {
			left = time.After(grace)
		}
		select {
		case <-ctx.Done():
			return
		case <-left:
			return
		case <-news:
		}
	}
}
