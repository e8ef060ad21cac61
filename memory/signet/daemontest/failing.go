package daemontest

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"
)

// Fail puts a fault on; the first that matches a request is used.
func (d *Daemon) Fail(fault Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fault.healed = make(chan struct{})
	d.faults = append(d.faults, &fault)
}

// Heal takes all faults off.
func (d *Daemon) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.faults {
		close(f.healed)
	}
	d.faults = nil
}

// faultLocked returns the fault that a request of a path meets, nil for none.
func (d *Daemon) faultLocked(path string) *Fault {
	i := slices.IndexFunc(d.faults, func(f *Fault) bool { return strings.HasPrefix(path, f.Path) })
	if i < 0 {
		return nil
	}
	f := d.faults[i]
	if f.Times > 0 {
		if f.Times--; f.Times == 0 {
			d.faults = slices.Delete(d.faults, i, i+1)
		}
	}
	return f
}

// serve fails a request in the fault's way; answer is how the daemon would answer it.
func (f *Fault) serve(w http.ResponseWriter, r *http.Request, stopping chan struct{}, answer http.HandlerFunc) {
	delay := cmp.Or(f.Delay, 10*time.Millisecond)
	switch f.Kind {
	case BlackHole:
		wait(r, stopping, 0)
		panic(http.ErrAbortHandler)
	case Slow, Held:
		late := httptest.NewRecorder()
		answer(late, r)
		if f.Kind == Held && until(r, stopping, f.healed) || f.Kind == Slow && wait(r, stopping, delay) {
			maps.Copy(w.Header(), late.Header())
			w.WriteHeader(late.Code)
			w.Write(late.Body.Bytes())
		}
	case Drip:
		for {
			io.WriteString(w, " ")
			http.NewResponseController(w).Flush()
			if !wait(r, stopping, delay) {
				return
			}
		}
	case Status:
		code := cmp.Or(f.Code, http.StatusInternalServerError)
		reply(w, code, fields{"error": statusText(code)})
	case Garbage:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "<html>\x00{\"inject\":\"half an answ")
	case Huge:
		huge(w)
	case Drop:
		panic(http.ErrAbortHandler)
	case DropAfter:
		answer(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
}

// wait returns true after delay, false when the client or the daemon went away before. Without a delay it waits for
// that.
func wait(r *http.Request, stopping chan struct{}, delay time.Duration) bool {
	var after <-chan time.Time
	if delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		after = t.C
	}
	return until(r, stopping, after)
}

// until returns true once something comes or is closed, false when the client or the daemon went away before.
func until[T any](r *http.Request, stopping chan struct{}, what <-chan T) bool {
	select {
	case <-what:
		return true
	case <-r.Context().Done():
	case <-stopping:
	}
	return false
}

// huge answers with 100 MB.
func huge(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	chunk := bytes.Repeat([]byte("heron "), 1<<14)
	io.WriteString(w, `{"memoryCount":1,"memories":[],"inject":"`)
	for sent := 0; sent < 100<<20; sent += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
	io.WriteString(w, `"}`)
}

func statusText(code int) string {
	switch code {
	case http.StatusUnauthorized:
		return "authentication required"
	case http.StatusServiceUnavailable:
		return "Retry shortly"
	case http.StatusInternalServerError:
		return "Hook execution failed"
	}
	return strings.ToLower(http.StatusText(code))
}
