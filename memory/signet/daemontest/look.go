package daemontest

import (
	"encoding/json"
	"slices"
	"strings"
)

// JSON is the body as an object; nil if it is none.
func (r Request) JSON() map[string]any {
	var m map[string]any
	if json.Unmarshal(r.Body, &m) != nil {
		return nil
	}
	return m
}

// copyOf returns what a daemon has in one of its lists.
func copyOf[T any](d *Daemon, list *[]T) []T {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(*list)
}

// Requests returns what was asked of the given paths so far, in order; of all, without one.
func (d *Daemon) Requests(paths ...string) []Request {
	return slices.DeleteFunc(copyOf(d, &d.requests), func(r Request) bool {
		route, _, _ := strings.Cut(r.Path, "?")
		return len(paths) > 0 && !slices.Contains(paths, route)
	})
}

// ForgetRequests empties the record of requests.
func (d *Daemon) ForgetRequests() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = nil
}

// Ends returns the session-ends so far; of one key, if given.
func (d *Daemon) Ends(key ...string) []End {
	return slices.DeleteFunc(copyOf(d, &d.ends), func(e End) bool { return len(key) > 0 && e.Key != key[0] })
}

// Compactions returns the compaction-completes so far.
func (d *Daemon) Compactions() []Compaction { return copyOf(d, &d.compactions) }

// Compacting returns the keys of the pre-compactions so far.
func (d *Daemon) Compacting() []string { return copyOf(d, &d.compacting) }

// FeedbackGiven returns the ratings so far.
func (d *Daemon) FeedbackGiven() []Feedback { return copyOf(d, &d.feedback) }

// Jobs returns the jobs so far.
func (d *Daemon) Jobs() []Job { return copyOf(d, &d.jobs) }
