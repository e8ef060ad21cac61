package proxy

import (
	"context"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// A brief is a harness's own summary of a conversation that it is compacting.
type brief struct {
	compaction string // its compactionId
	text       []byte // at most maxTurnText
}

// of makes it the brief of a compaction, empty if it was another's.
func (b *brief) of(compaction string) {
	if b.compaction != compaction {
		*b = brief{compaction: compaction}
	}
}

func (b *brief) add(text string) {
	b.text = append(b.text, text[:min(len(text), maxTurnText-len(b.text))]...)
}

// briefed takes in a piece of a summary.
func (d *down) briefed(s *session, line []byte) {
	id, _ := stringAt(line, "params", "update", "compactionId")
	text, ok := stringAt(line, "params", "update", "content", "text")
	if !ok {
		return
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	s.brief.of(id)
	s.brief.add(text)
}

// compaction hands over the summary of a session whose harness says that it
// has compacted, and re-arms it. Only clients that asked for it see this update. A
// harness that shows its history tells of old compactions too: these are none.
func (d *down) compaction(s *session, line []byte) {
	if len(line) == maxTapped {
		line = frame.Mend(line)
	}
	id, _ := stringAt(line, "params", "update", "compactionId")
	status, _ := stringAt(line, "params", "update", "status")
	var texts []string
	if summary, ok := frame.Find(line, "params", "update", "summary"); ok {
		for block := range frame.Elements(line, summary) {
			if text, ok := textOf(block.Of(line)); ok {
				texts = append(texts, text)
			}
		}
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	s.brief.of(id)
	if len(texts) > 0 { // it replaces what came in pieces
		s.brief.text = nil
		s.brief.add(strings.Join(texts, "\n"))
	}
	if status != "completed" || s.replay.open {
		return
	}
	d.r.handBrief(s)
	d.r.forgot(s, compacted)
}

// handBrief leaves a summary for delivery. The relay's lock is held.
func (r *Relay) handBrief(s *session) {
	b, text := r.journal.backend, string(s.brief.text)
	s.brief = brief{}
	if b == nil || b.Summarised == nil || s.off || strings.TrimSpace(text) == "" {
		return
	}
	blocks, private := s.blocks(), slices.Clone(s.secret)
	s.owe("summary", func(ctx context.Context, _ Ledger, row int64) error {
		return b.Summarised(ctx, row, storable(text, blocks, private, false))
	})
	r.journal.nudge()
}
