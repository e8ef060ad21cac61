package proxy

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Later prompts get what they bring to mind: not short ones, not commands, and
// no memory twice, unless the prompt that had it was refused.
func TestPerPrompt(t *testing.T) {
	p := &play{T: t, w: newWorld(t), house: newHouse(), mem: newSource()}
	p.change = func(o *Options) { o.PerPrompt = true }
	p.enter()
	steps["new"](p)
	recalls := func(id, text string) {
		p.mem.mu.Lock()
		defer p.mem.mu.Unlock()
		p.mem.recalled = memory.Context{Source: "test", Items: []memory.Item{{ID: id, Text: text}}}
	}
	for _, step := range []struct {
		prompt, id, text string
		fate             fate
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
		p.prompt(step.prompt, step.fate)
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
