// Package doctor looks for what is wrong on a machine. It changes nothing: files are opened to be read, the database
// too, and a harness is started only where it is installed, asked who it is, and ended.
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
	ConfigErr error    // what config.Load said
	Agents    []string // harnesses to look at beside those in use here
	// Step, if not nil, is told what is being looked at. It is called by one goroutine at a time.
	Step func(what string)
}

// Examine makes all checks. Those that wait for nobody run beside each other; harnesses are started two at a time.
// It ends with ctx; each check has a limit of its own.
func Examine(ctx context.Context, o Options) []Finding {
	e := examination{c: o.Config, step: o.Step, patience: ordinary}
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
