package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A harness that is checked.
type harness struct {
	name    string
	command []string // nil: by name
}

// startedAtOnce is how many harnesses are started at a time: seven at once slow each other down, and one at a time
// would wait long for one that does not answer.
const startedAtOnce = 2

// harnesses checks whether the harnesses that are in use here speak ACP.
func (e *examination) harnesses(ctx context.Context, named []string) (found []finding) {
	for _, name := range named {
		if _, known := e.c.Profile(name); !known {
			found = append(found, problem("give it a command in the acp: section, under agents:",
				"unknown agent %q", name)...)
		}
	}
	all := e.inUse(named)
	if len(all) == 0 {
		return append(found, note("install one"+clients.ByNPX(), "no agent is set up, and none found on PATH")...)
	}
	answers := make([][]finding, len(all))
	places := make(chan struct{}, startedAtOnce)
	var wg sync.WaitGroup
	for i, one := range all {
		places <- struct{}{}
		e.step(fmt.Sprintf("starting %s (%d of %d)", one.title(), i+1, len(all)))
		wg.Go(func() {
			answers[i] = e.ask(ctx, one)
			<-places
		})
	}
	wg.Wait()
	return append(found, slices.Concat(answers...)...)
}

func (h harness) title() string {
	if h.name != "" {
		return h.name
	}
	return strings.Join(h.command, " ")
}

// inUse lists each harness once: those that the person names, those in clients' files, those of the configuration, and
// those on PATH.
func (e *examination) inUse(named []string) []harness {
	var all []harness
	for _, name := range named {
		all = append(all, harness{name: name})
	}
	for _, client := range clients.Names() {
		file, err := clients.Open(client)
		if err != nil {
			continue // the check of clients says so
		}
		entries, _ := file.Entries()
		for _, one := range entries {
			if one.Ours() {
				name, command := clients.HarnessOf(one.Command)
				all = append(all, harness{name, command})
			}
		}
	}
	for name, agent := range e.c.Agents {
		if len(agent.Command) > 0 {
			all = append(all, harness{name: name})
		}
	}
	for _, name := range clients.Installed(e.c) {
		all = append(all, harness{name: name})
	}
	all = e.distinct(all)
	slices.SortFunc(all, func(a, b harness) int { return strings.Compare(a.title(), b.title()) })
	return all
}

// distinct returns harnesses once each, whether by name, by command line or by both, without those that are not known.
func (e *examination) distinct(all []harness) (once []harness) {
	seen := map[string]int{} // by commandKey: its index in once
	for _, h := range all {
		p, known := e.c.Profile(h.name)
		if !known && len(h.command) == 0 {
			continue
		}
		if known && (slices.Equal(h.command, p.Command) || slices.Equal(h.command, p.Installed)) {
			h.command = nil
		}
		line := h.command
		if line == nil {
			line = p.CommandHere()
		}
		key := commandKey(line)
		at, there := seen[key]
		switch {
		case !there:
			seen[key] = len(once)
			once = append(once, h)
		case once[at].name == "":
			once[at].name = h.name
		}
	}
	return once
}

// commandKey identifies what a command line starts: a program by its name, by its path or by a link of that name is the
// same. Links of different names to one file may be different programs: that is how Volta and mise start them.
func commandKey(command []string) string {
	program := command[0]
	if path, err := exec.LookPath(program); err == nil {
		program = path
	}
	name := filepath.Base(program)
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return strings.Join(append([]string{program, name}, command[1:]...), "\x00")
}

// fetchers download what they run.
var fetchers = []string{"npx", "uvx"}

const byHand = "run it yourself to see why"

// ask starts a harness and sends it initialize. npx and uvx may start only what they have downloaded before.
func (e *examination) ask(ctx context.Context, h harness) []finding {
	profile, _ := e.c.Profile(h.name)
	if h.name == "" {
		profile, _ = upstream.ByCommand(h.command)
	}
	name := h.title()
	command := h.command
	if command == nil {
		command = profile.CommandHere()
	}
	options := upstream.Options{Command: command, Env: runtime.WithHooks(nil, "disabled")}
	if err := profile.Prepare(ctx, &options); err != nil {
		return problem(cmp.Or(profile.Install, "install it")+"; or remove it from the client's configuration", "%s: %v",
			name, err)
	}
	line := strings.Join(command, " ")
	limit, fetched := e.timeouts, slices.Contains(fetchers, options.Command[0])
	if fetched {
		limit.silent = cachedTime
		options.Command = slices.Insert(slices.Clone(options.Command), 1, "--offline")
	}
	begun := time.Now()
	agent, err := initialize(ctx, options, limit)
	switch {
	case errors.Is(err, upstream.ErrNotStarted):
		return problem("install it again", "%s: %v", name, err)
	case errors.Is(err, errHangs):
		return problem(byHand, "%s: %s does not answer initialize within %v: %v", name, line, limit.silent, err)
	case errors.Is(err, errAtWork):
		return problem(byHand, "%s: %s has not answered initialize after %v: %v", name, line, limit.working, err)
	case err != nil && fetched && ctx.Err() == nil:
		return note(strings.TrimPrefix(profile.Install, upstream.NeedsNode+", or "),
			"%s was not started, because it is not installed; %s fetches it for a client",
			name, options.Command[0])
	case err != nil:
		return problem(byHand, "%s: %s does not speak ACP: %v", name, line, err)
	case agent.ProtocolVersion > 2:
		return note("", "%s speaks ACP version %d: everything passes unchanged, without memory", name,
			agent.ProtocolVersion)
	}
	took := time.Since(begun)
	text := strings.TrimRight(fmt.Sprintf("%s speaks ACP after %d ms: %s %s", name, took.Milliseconds(),
		agent.Info.Name, agent.Info.Version), ": ")
	if took > limit.slow {
		return note("check the machine's load; some clients wait no longer than 15 s",
			"%s; it works, but starts slowly", text)
	}
	return fine("%s", text)
}
