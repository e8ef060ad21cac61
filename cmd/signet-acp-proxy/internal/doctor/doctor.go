// Package doctor finds out what is wrong on a machine. It changes nothing: files and the database are only read, a file
// that tries whether the disk has room is removed again, and a harness is started only if it is installed, sent
// initialize, and ended.
package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// Options of an examination.
type Options struct {
	Config    *config.Config
	ConfigErr error             // the error of config.Load
	Agents    []string          // harnesses to check beside those in use here
	Full      bool              // check all of the database, however long that takes
	Step      func(what string) // is called with what is being checked, by one goroutine at a time
}

// Examine makes all checks, most of them at once; harnesses are started two at a time. It ends with ctx; each check has
// a deadline of its own.
func Examine(ctx context.Context, o Options) []finding {
	e := examination{c: o.Config, full: o.Full, step: o.Step, timeouts: defaultTimeouts}
	e.step("configuration, daemon, files, database")
	checks := []struct {
		name string
		find func() []finding
	}{
		{"config", func() []finding { return e.configuration(o.ConfigErr) }},
		{"daemon", func() []finding { return e.daemon(ctx) }},
		{"identity", e.identity},
		{"permissions", e.permissions},
		{"bounds", e.bounds},
		{"notes", func() []finding { return e.notes(ctx) }},
		{"space", e.space},
		{"database", func() []finding { return e.database(ctx) }},
		{"memory", func() []finding { return e.remembers(ctx) }},
		{"folder", e.here},
		{"events", e.events},
		{"panics", e.panics},
		{"tools", e.refusals},
		{"search", func() []finding { return search(ctx) }},
		{"clients", e.clients},
		{"injection", e.integrations},
	}
	results := make([][]finding, len(checks))
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() { results[i] = named(check.name, check.find()) })
	}
	wg.Wait()
	return append(slices.Concat(results...), named("harness", e.harnesses(ctx, o.Agents))...)
}

func (e *examination) configuration(err error) []finding {
	var all []finding
	for _, warning := range e.c.Warnings {
		all = append(all, note("remove it", "%s", warning)...)
	}
	if err == nil {
		return append(all, fine("memory: %s (%s)", e.c.Memory, e.c.Source("memory"))...)
	}
	for line := range strings.Lines(err.Error()) {
		all = append(all, problem("correct it; the default is used until then",
			"%s", strings.TrimSpace(line))...)
	}
	return all
}

// refusals names the last program that was refused the memory tools for what confines it, and may be an agent's.
func (e *examination) refusals() []finding {
	if e.c.DB == "" {
		return nil
	}
	why, at := runtime.NotedRefusal(e.c, time.Now().Add(-panicsAge))
	if why == "" {
		return nil
	}
	return note("if your agent started it, start the agent without no_new_privs; if not, ignore it",
		"%s (%s)", why, term.Local(at))
}

const panicsAge = 14 * 24 * time.Hour // older ones are not named any more

// panics names the mistakes of this version that have ended a piece of work.
func (e *examination) panics() []finding {
	if e.c.DB == "" { // nobody has named a folder
		return nil
	}
	noted, log, err := runtime.NotedPanics(e.c, time.Now().Add(-panicsAge))
	if err != nil {
		return note("", "%v", err)
	}
	if len(noted) == 0 {
		return nil
	}
	last := noted[len(noted)-1]
	return problem("a newer version may fix it; if not, report it with its line in "+log,
		"%s in this version within 14 days; the last at %s in %s, at %s: %s", term.Count(len(noted), "panic"),
		term.Local(last.At), last.Work, last.Where, last.What)
}
