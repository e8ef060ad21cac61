package proxy

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// Later prompts get what they bring to mind: not short ones, not commands, and no memory twice, unless the prompt that
// had it was refused.
func TestPerPrompt(t *testing.T) {
	p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource()}
	p.change = func(o *Options) { o.PerPrompt = true }
	p.start()
	steps["new"](p)
	recalls := func(id, text string) {
		p.mem.mu.Lock()
		defer p.mem.mu.Unlock()
		p.mem.recalled = memory.Context{Source: "test", Items: []memory.Item{{ID: id, Text: text}}}
	}
	for _, step := range []struct {
		prompt, id, text string
		outcome          outcome
		want             string // in the block; "" for no block
	}{
		{"hello", "", "", succeed, "You are Alto"},
		{"what does Robin drink in the morning", "m7", "Robin likes tea.", succeed, "Robin likes tea."},
		{"what does Robin drink in the evening", "m7", "Robin likes tea.", succeed, ""},
		{"and what does Robin wear, if anything", "m1", "Robin prefers tabs.", succeed, ""}, // came with the context
		{"nineteen characters", "m8", "Robin wears green.", succeed, ""},
		{"/review what does Robin wear, if anything", "m8", "Robin wears green.", succeed, ""},
		{"and what does Robin wear, if anything", "m8", "Robin wears green.", refuse, "Robin wears green."},
		{"and what does Robin wear, if anything", "m8", "Robin wears green.", succeed, "Robin wears green."},
		{"and what does Robin wear, if anything", "m8", "Robin wears green.", succeed, ""},
		{"and what is the name of the dog, again", "", "The dog is called Wren.", fail, "The dog is called Wren."},
		{"and what is the name of the dog, again", "", "The dog is called Wren.", succeed, ""},
		{"twenty characters 日本", "m9", "A cat, too.", succeed, "A cat, too."},
	} {
		recalls(step.id, step.text)
		p.prompt(step.prompt, step.outcome)
		prompts := p.c.got(`"session/prompt"`)
		blocks := p.c.blocks(len(prompts) - 1)
		switch {
		case step.want == "" && len(blocks) != 1:
			t.Errorf("%q carries %q", step.prompt, blocks[0])
		case step.want != "" && (len(blocks) != 2 || !strings.Contains(blocks[0], step.want)):
			t.Errorf("%q: %q", step.prompt, blocks)
		}
	}
	p.mem.mu.Lock()
	defer p.mem.mu.Unlock()
	for _, asked := range p.mem.recalls {
		if asked == "nineteen characters" || strings.HasPrefix(asked, "/") {
			t.Errorf("%q was looked up", asked)
		}
	}
}

// What other agents have sent goes with the next plain prompt, once, whether later prompts are given anything else or
// not; nobody waits for it. What came for a compaction goes with the block that follows it.
func TestMessages(t *testing.T) {
	for _, perPrompt := range []bool{false, true} {
		p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource()}
		var mu sync.Mutex
		sent := map[string][]memory.Item{}
		p.change = func(o *Options) {
			o.PerPrompt = perPrompt
			open := o.Open
			o.Open = func(ctx context.Context) (*Backend, error) {
				b, err := open(ctx)
				if err == nil {
					b.Messages = func(key string) []memory.Item {
						mu.Lock()
						defer mu.Unlock()
						return slices.Clone(sent[key])
					}
				}
				return b, err
			}
		}
		p.start()
		steps["new"](p)
		p.prompt("hello", succeed)
		key := p.w.session("model", p.id).Key
		mu.Lock()
		sent[key] = []memory.Item{{ID: "message:1", Text: "Message from agent beta: look at the heron",
			Origin: "agent beta"}}
		mu.Unlock()
		for _, step := range []struct{ prompt, want string }{
			{"/review", ""}, {"on", "look at the heron"}, {"on", ""},
		} {
			p.prompt(step.prompt, succeed)
			blocks := p.c.blocks(len(p.c.got(`"session/prompt"`)) - 1)
			if given := len(blocks) == 2 && strings.Contains(blocks[0], step.want); given != (step.want != "") {
				t.Errorf("%q: %q", step.prompt, blocks)
			}
		}
		mu.Lock()
		sent[key] = []memory.Item{{ID: "guidance:1", Text: "keep the bittern"}} // the other one was acknowledged
		mu.Unlock()
		p.prompt("/compact", succeed)
		p.prompt("on", succeed)
		blocks := p.c.blocks(len(p.c.got(`"session/prompt"`)) - 1)
		if len(blocks) != 2 || strings.Count(blocks[0], "bittern") != 1 || strings.Contains(blocks[0], "heron") {
			t.Errorf("after a compaction: %q", blocks)
		}
		inserted, err := p.w.store.Injections(t.Context(), p.w.session("model", p.id).ID)
		if err != nil || len(inserted) != 3 || inserted[1].Kind != session.KindMessages {
			t.Errorf("%+v, %v", inserted, err)
		}
	}
}
