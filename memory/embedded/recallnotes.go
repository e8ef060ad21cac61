package embedded

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What was stored on purpose is looked up among its own kind: among all that was said it would drown.

const (
	toldNotes   = 2   // that a prompt is told
	lookedNotes = 500 // with one of its words, the newest
	likelyNotes = 16  // the best of these, which are read
)

// recallNotes returns what was stored on purpose and concerns a prompt.
func (s *Store) recallNotes(ctx context.Context, q *rank.Query, in Query) ([]memory.Item, error) {
	found, err := s.notesAbout(ctx, q, in)
	var items []memory.Item
	for _, m := range found {
		it := m.item()
		if len(items) < toldNotes && !slices.Contains(in.seen, it.ID) && !slices.Contains(in.seen, it.Text) {
			it.Text, it.Score = clip(it.Text, maxExcerpt), 1
			items = append(items, it)
		}
	}
	return ownProject(items, in.Project), err
}

// notesAbout returns the notes that concern a prompt, best first, but none that another one replaces.
func (s *Store) notesAbout(ctx context.Context, q *rank.Query, in Query) ([]Memory, error) {
	lists, err := s.entries(ctx, "scope : "+matchQuery(aNote)+" AND "+within(in.Project), q.Terms, lookedNotes)
	if err != nil || len(lists) == 0 {
		return nil, err
	}
	ids := q.Notes(lists)
	in.said = false
	if ids, err = s.visible(ctx, in, ids[:min(len(ids), likelyNotes)], likelyNotes); err != nil || len(ids) == 0 {
		return nil, err
	}
	texts, err := s.texts(ctx, ids)
	var found []Memory
	for _, id := range ids {
		if m, ok := texts[id]; ok && m.ReplacedBy == "" {
			found = append(found, m)
		}
	}
	return found, err
}

// NotesAbout returns the notes of agents that concern a text in a project, best first.
func (s *Store) NotesAbout(ctx context.Context, text, project string) ([]Memory, error) {
	in := Query{Text: text, Project: project, Limit: 1}
	q, _, err := s.rank(ctx, in)
	var found []Memory
	if err == nil {
		found, err = s.notesAbout(ctx, &q, in)
	}
	return slices.DeleteFunc(found, func(m Memory) bool { return m.Source != sourceNotes }),
		sqlite.While("looking for notes", err)
}
