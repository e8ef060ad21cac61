// Package doctor finds out what is wrong on a machine. It changes nothing: files and the database are only read, a file
// that tries whether the disk has room is removed again, and a harness is started only if it is installed, sent
// initialize, and ended.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// Options of an examination.
type Options struct {
	Config    *config.Config
	ConfigErr error    // the error of config.Load
	Agents    []string // harnesses to check beside those in use here
	// Step, if not nil, is called with what is being checked, by one goroutine at a time.
	Step func(what string)
}

// Examine makes all checks, most of them at once; harnesses are started two at a time. It ends with ctx; each check has
// a deadline of its own.
func Examine(ctx context.Context, o Options) []Finding {
	e := examination{c: o.Config, step: o.Step, timeouts: defaultTimeouts}
	if e.step == nil {
		e.step = func(string) {}
	}
	e.step("configuration, daemon, files, database")
	checks := []func(context.Context) []Finding{
		func(context.Context) []Finding { return e.configuration(o.ConfigErr) },
		e.daemon,
		func(context.Context) []Finding { return e.identity() },
		func(context.Context) []Finding { return e.permissions() },
		func(context.Context) []Finding { return e.space() },
		e.database,
		func(context.Context) []Finding { return e.events() },
		func(context.Context) []Finding { return e.panics() },
		search,
		func(context.Context) []Finding { return e.clients() },
		func(context.Context) []Finding { return e.integrations() },
	}
	results := make([][]Finding, len(checks))
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() { results[i] = check(ctx) })
	}
	wg.Wait()
	all := []Finding{}
	for _, found := range results {
		all = append(all, found...)
	}
	return append(all, e.harnesses(ctx, o.Agents)...)
}

func (e *examination) configuration(err error) []Finding {
	const check = "config"
	if err == nil {
		return []Finding{{check, Fine, fmt.Sprintf("memory: %s (%s)", e.c.Memory, e.c.Source("memory")), ""}}
	}
	var all []Finding
	for line := range strings.Lines(err.Error()) {
		all = append(all, Finding{check, Problem, strings.TrimSpace(line),
			"correct it; until then the relay takes the default"})
	}
	return all
}
