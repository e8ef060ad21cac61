package view

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// lookEvery is how often a watch looks at the database.
const lookEvery = 300 * time.Millisecond

// A watch tells browser windows what has changed in the database: "memories", "sessions" (there are more or fewer),
// "session 12".
type watch struct {
	src Source

	mu             sync.Mutex
	windows        map[chan string]bool
	windowsChanged chan struct{} // closed and replaced when a window opens or closes
}

// A snapshot of the database, to be compared with a later one.
type snapshot struct {
	version               int64 // PRAGMA data_version, which changes with writes of other processes
	memories, delegations string
	correlation.Pulse
}

// run looks until ctx ends.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
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

// look takes a snapshot, and says what has changed since the one before, seen.
func (w *watch) look(ctx context.Context, seen snapshot) (now snapshot, changes []string, err error) {
	if err := w.src.DB.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&now.version); err != nil {
		return now, nil, err
	}
	if now.version == seen.version {
		return seen, nil, nil
	}
	if now.memories, err = w.src.Memories.Pulse(ctx); err != nil {
		return now, nil, err
	}
	if w.src.Delegations != nil {
		if now.delegations, err = w.src.Delegations.Pulse(ctx); err != nil {
			return now, nil, err
		}
	}
	if now.Pulse, err = w.src.Sessions.Pulse(ctx, seen.Event); err != nil {
		return now, nil, err
	}
	if now.memories != seen.memories {
		changes = append(changes, "memories")
	}
	if now.Sessions != seen.Sessions || now.delegations != seen.delegations {
		return now, append(changes, "sessions"), nil
	}
	done := map[int64]bool{}
	for _, ids := range [][]int64{now.Told, now.Open, seen.Open} {
		for _, id := range ids {
			if !done[id] {
				done[id] = true
				changes = append(changes, fmt.Sprint("session ", id))
			}
		}
	}
	return now, changes, nil
}

// changed tells every window. One that does not keep up misses changes: those that come while maxPending wait for it.
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

// maxPending is how many changes are kept for a slow window.
const maxPending = 256

// stream sends changes to a window as server-sent events, for as long as the window is open.
func (w *watch) stream(rw http.ResponseWriter, r *http.Request) {
	window := make(chan string, maxPending)
	w.update(func() { w.windows[window] = true })
	defer w.update(func() { delete(w.windows, window) })
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

// update changes which windows are open, and wakes untilLeft.
func (w *watch) update(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	close(w.windowsChanged)
	w.windowsChanged = make(chan struct{})
}

// untilLeft waits until a window was open and then none has been for grace, or until ctx ends.
func (w *watch) untilLeft(ctx context.Context, grace time.Duration) {
	visited := false
	for {
		w.mu.Lock()
		open, news := len(w.windows), w.windowsChanged
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
