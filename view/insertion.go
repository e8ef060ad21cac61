package view

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// Limits of what a page holds of inserted blocks.
const (
	maxBlock  = 32 << 10 // bytes of one block
	maxBlocks = 8 << 20  // of all blocks
)

// outcomes returns in words what became of a block.
var outcomes = map[correlation.Outcome]string{
	correlation.Kept: "the agent has it", correlation.WasRefused: "the agent refused the prompt",
	correlation.InDoubt: "sent, perhaps lost", correlation.Sending: "on its way",
	correlation.WasCancelled: "cancelled, perhaps lost",
}

// addInsertions adds to the sessions what was inserted into them, without the texts if not withText.
func (c *conversations) addInsertions(ctx context.Context, in correlation.Scope, withText bool) error {
	var all []correlation.Injection
	ids := map[string]bool{}
	most, room := maxBlock, maxBlocks
	if !withText {
		most, room = 0, 0
	}
	err := c.src.Sessions.InjectionsIn(ctx, in, most, -1, func(one correlation.Injection) {
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
	texts, err := c.src.Memories.Beginnings(ctx, slices.Collect(maps.Keys(ids)), 8*chars.MaxTitle)
	if err != nil {
		return err
	}
	uses, err := c.src.Sessions.Uses(ctx, in)
	if err != nil {
		return err
	}
	became := map[int64]map[string]string{}
	for _, u := range uses {
		if became[u.Session] == nil {
			became[u.Session] = map[string]string{}
		}
		became[u.Session][u.Item] = u.InWords()
	}
	for _, one := range slices.Backward(all) {
		if s := c.byID[one.Session]; s != nil {
			s.addInsertion(newInsertion(one, texts, became[s.ID]))
		}
	}
	return nil
}

// newInsertion returns an injection as the page shows it, with the texts of items and what became of them.
func newInsertion(one correlation.Injection, texts, became map[string]string) insertion {
	t := insertion{
		Source: one.Source, at: one.At, Block: excerpt{Body: one.Text}, Outcome: outcomes[one.Outcome],
		What:   cmp.Or(memory.InWords(one.Items), "identity") + ", " + telemetry.Bytes(int64(one.Bytes)),
		Waited: fmt.Sprintf("%d ms to find, the prompt waited %d ms", one.FetchMS, one.HeldMS),
	}
	if one.CutMS > 0 {
		t.Waited += fmt.Sprintf("; the search was cut off after %d ms", one.CutMS)
	}
	for _, id := range one.Items {
		it := item{ID: id, Text: excerpt{Body: texts[id]}, Shown: texts[id] != "", Became: became[id]}
		if path, isFile := memory.FileOf(id); isFile {
			it.File = path
		}
		t.Items = append(t.Items, it)
	}
	t.Block.cut(one.Bytes, maxBlock)
	return t
}

// addInsertion adds a block to the turn that it was inserted in.
func (s *session) addInsertion(t insertion) {
	if len(s.Turns) == 0 {
		return
	}
	at := slices.IndexFunc(s.Turns, func(turn *turn) bool { return turn.ended.IsZero() || !t.at.After(turn.ended) })
	if at < 0 {
		at = len(s.Turns) - 1
	}
	s.Turns[at].Told = append(s.Turns[at].Told, t)
}
