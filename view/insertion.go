package view

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// Limits of what a page holds of inserted blocks.
const (
	maxBlock  = 32 << 10 // bytes of one block
	maxBlocks = 8 << 20  // of all blocks
)

// Insertion is a block that was inserted.
type Insertion struct {
	What    string // such as "3 memories, 1.1 KB"
	Source  string
	Waited  string // how long it took, in words
	Outcome string // what became of it, in words
	Block   Text
	Items   []Item

	at time.Time
}

// An Item is a memory, or a passage of a conversation, in a block.
type Item struct {
	ID, Text string
	Shown    bool // it is among the page's memories
}

// outcomes returns in words what became of a block.
var outcomes = map[correlation.Outcome]string{
	correlation.Kept: "the agent has it", correlation.WasRefused: "the agent refused the prompt",
	correlation.InDoubt: "sent, perhaps lost", correlation.Sending: "on its way",
	correlation.WasCancelled: "cancelled, perhaps lost",
}

// readInsertions adds to the sessions what was inserted into them, without the texts if not withText.
func (c *Conversations) readInsertions(ctx context.Context, src Source, in correlation.Scope, withText bool) error {
	var all []correlation.Injection
	ids := map[string]bool{}
	most, room := maxBlock, maxBlocks
	if !withText {
		most, room = 0, 0
	}
	err := src.Sessions.InjectionsIn(ctx, in, most, func(one correlation.Injection) {
		one.Text = chars.Cut(one.Text, most)
		if room -= len(one.Text); room < 0 {
			one.Text = ""
		}
		for _, id := range one.Items {
			ids[id] = true
		}
		if s := c.byID[one.Session]; s != nil && one.Outcome != correlation.WasRefused {
			s.Told += len(one.Items)
		}
		all = append(all, one)
	})
	if err != nil || !withText {
		return err
	}
	texts, err := src.Memories.Beginnings(ctx, slices.Collect(maps.Keys(ids)), 8*chars.MaxTitle)
	if err != nil {
		return err
	}
	for _, one := range slices.Backward(all) {
		if s := c.byID[one.Session]; s != nil {
			s.addInsertion(insertion(one, texts))
		}
	}
	return nil
}

// insertion returns an injection as the page shows it.
func insertion(one correlation.Injection, texts map[string]string) Insertion {
	t := Insertion{
		Source: one.Source, at: one.At, Block: Text{Body: one.Text}, Outcome: outcomes[one.Outcome],
		What:   count(len(one.Items), "memory", "memories") + ", " + telemetry.Bytes(int64(one.Bytes)),
		Waited: fmt.Sprintf("%d ms to find, the prompt waited %d ms", one.FetchMS, one.HeldMS),
	}
	for _, id := range one.Items {
		t.Items = append(t.Items, Item{ID: id, Text: chars.Title(texts[id]), Shown: texts[id] != ""})
	}
	t.Block.cut(one.Bytes, maxBlock)
	return t
}
