package proxy

import (
	"fmt"
	"testing"
)

// A scenario is one session of a model over several processes.
type scenario struct {
	*testing.T
	w      *world
	model  *model
	mem    *source
	change func(*Options)

	c       *connection // of the process at hand
	process *modelProcess
	id      string
	n       int
}

func newScenario(t *testing.T) *scenario {
	return &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource(), change: func(*Options) {}}
}

// start starts a process, as acpx would.
func (p *scenario) start(as func(*modelProcess) agent) {
	p.process = p.model.process()
	p.c = p.w.start(p.mem, as(p.process), longLimits, p.change)
	p.n++
	p.c.call(p.n, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"acpx","version":"0.19.1"}}`)
}

// asItIs is a model's process that does all that it can.
func asItIs(r *modelProcess) agent { return r.agent }

func (p *scenario) ask(method, params string) string {
	p.n++
	return p.c.call(p.n, method, params)
}

// open asks for a session, and for its id if it is a new one.
func (p *scenario) open(method string) {
	p.Helper()
	answer := p.ask(method, loadParams(p.id))
	if id, ok := stringAt([]byte(answer), "result", "sessionId"); ok {
		p.id = id
	}
	p.c.synced()
}

func (p *scenario) prompt(text string, a outcome) {
	p.process.next.Store(a)
	p.n++
	p.c.sendPrompt(p.n, p.id, text)
	p.c.until(fmt.Sprintf(`"id":%d,`, p.n))
	p.c.synced()
}
