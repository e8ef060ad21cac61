package session

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// add notes a block that goes in. A refused one with the same text is replaced: it was never in the conversation.
func (h *history) add(in *Injection) {
	h.blocks = slices.DeleteFunc(h.blocks, func(b *Injection) bool {
		return b.Outcome == correlation.WasRefused && b.Text == in.Text
	})
	h.blocks = append(h.blocks, in)
	h.since = len(in.Text)
}

// given returns the ids of the items that the session was given, or the texts of those without: not what a refused
// prompt carried, which may go with the next one.
func (h *history) given() (items []string) {
	for _, b := range h.blocks {
		if b.Outcome != correlation.WasRefused {
			items = append(items, b.Items...)
		}
	}
	return items
}

// load sets the blocks to those that the ledger has, which come newest first. Those of sessions that this one continues
// are left out, because its harness has not seen them. A fork has its parent's from before the fork.
func (h *history) load(blocks []correlation.Injection, known correlation.Session) {
	h.blocks = nil
	for _, in := range slices.Backward(blocks) {
		if in.Session != known.ID && (known.ForkOf == 0 || in.At.After(known.Started)) {
			continue
		}
		h.add(&Injection{Injection: in})
	}
}

// fork is the history that a harness copies.
func (h *history) fork(parent *history) {
	h.blocks = nil
	for _, b := range parent.blocks {
		own := *b
		own.shown, own.sentHere = false, false
		h.blocks = append(h.blocks, &own)
	}
}

// newest returns the newest block that the session's state is about: not recall or messages, which concern one prompt,
// and not the system prompt; nil: none.
func (h *history) newest() *Injection {
	for _, b := range slices.Backward(h.blocks) {
		switch b.Kind {
		case kindRecall, KindMessages, KindSystem:
		default:
			return b
		}
	}
	return nil
}

// inDoubt returns the block that may or may not have reached the harness, to be sent once more; nil for none.
func (h *history) inDoubt() *Injection {
	sent := h.newest()
	if sent == nil {
		return nil
	}
	block := memory.Block{ID: sent.BlockID, Hash: sent.BlockID, Text: sent.Text, Items: sent.Items}
	return &Injection{Injection: correlation.Injection{Kind: sent.Kind, Source: sent.Source}, Block: block}
}

// texts returns the texts of the blocks, oldest first.
func (h *history) texts() []string {
	all := make([]string, len(h.blocks))
	for i, b := range h.blocks {
		all[i] = b.Text
	}
	return all
}

// expectReplay notes that the harness may replay its history from now on: each block may come back once.
func (h *history) expectReplay() {
	h.replay, h.since = replay{step: replayOpen}, 0
	for _, b := range h.blocks {
		b.shown = false
	}
}

// rewound reports whether a replay that is over has shown the user's words and nothing of the blocks that the session
// was given: the conversation was taken back to before them.
func (h *history) rewound() bool {
	newest := h.newest()
	return newest != nil && newest.Outcome != correlation.WasRefused &&
		h.replay.step == replayAnswered && h.replay.shown == shownWords &&
		!slices.ContainsFunc(h.blocks, func(b *Injection) bool { return b.shown })
}

// match returns how many bytes at the start of a user message are a block that went in, and marks that block as shown.
// Each block comes back once: a second copy is the user's own text.
func (h *history) match(text string) int {
	for _, b := range h.blocks {
		if b.shown {
			continue
		}
		n := LeadingBlock(text, b.Text)
		if n == 0 {
			continue
		}
		b.shown = true
		if newest := h.newest(); newest != nil && h.replay.step != replayOver && newest.Text == b.Text {
			h.replay.shown = shownOurs
		}
		return n
	}
	text = strings.TrimSpace(text)
	if h.replay.step != replayOver && strings.HasPrefix(text, OpenMark) && strings.Contains(text, closeMark) {
		h.replay.shown = max(h.replay.shown, shownStrange) // by another proxy, or one whose database is lost
	}
	return 0
}

// maxSought is how many blocks of one replay are looked up. One that is found brings all of its session's along.
const maxSought = 8

// seeks returns the id of a block at the start of one of the texts that is to be looked up: in a replay of a session
// that has no blocks of its own. "": none.
func (h *history) seeks(texts []string) string {
	r := &h.replay
	own := len(h.blocks) > 0 && r.sought == nil
	if own || r.step == replayOver || r.deaf || len(r.sought) >= maxSought {
		return ""
	}
	for _, text := range texts {
		if id := BlockID(text); id != "" && !r.sought[id] {
			if r.sought == nil {
				r.sought = map[string]bool{}
			}
			r.sought[id] = true
			return id
		}
	}
	return ""
}

// keep returns the borrowed blocks that were shown since the last time: they are the session's own from now on.
func (h *history) keep() (shown []correlation.Injection) {
	for _, b := range h.blocks {
		if b.borrowed && b.shown {
			b.borrowed, b.Outcome = false, correlation.Kept
			shown = append(shown, b.Injection)
		}
	}
	return shown
}

// minSeen is how much of a person's words, in UTF-16 units, a harness must have seen for a title to be about them.
const minSeen = 80

// titledFrom returns the block from which a harness has made this title, nil if it has seen the person's words too. A
// harness that makes titles from the first units of a prompt, so many, sees nothing but the block where that is as
// long; the title that follows such a block is noted with it.
func (h *history) titledFrom(most int, title string) *Injection {
	room := most - minSeen
	if room < 0 || h.named {
		return nil
	}
	for _, b := range h.blocks {
		if b.sentHere && b.Title == "" && b.Kind != KindSystem && chars.Units(b.Text) > room {
			b.Title = correlation.TitleHash(title)
			return b
		}
	}
	return nil
}

// injected reports whether a prompt of the session carried a block: whatever else it was given is in its system prompt.
func (s *Session) injected() bool {
	if s.context.state != correlation.IdentityGiven {
		return s.context.state != correlation.Armed
	}
	return slices.ContainsFunc(s.history.blocks, func(b *Injection) bool {
		return b.Kind != KindSystem && b.Outcome != correlation.WasRefused
	})
}
