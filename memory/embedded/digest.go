package embedded

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	turnsOfDigest = 30      // the first of a session, and its last ones
	readOfTurn    = 8 << 10 // bytes of each side that are searched for decisions
	maxRecent     = 2       // sessions whose digests a prompt is told that names nothing
	bestOfDigest  = 10      // of the best passages, those that tell which session a prompt goes on with
)

// Rounds reads turns of one conversation, in order, as memory.Continued and memory.DigestOf take them.
func Rounds(turns []correlation.Said) []memory.Round {
	rounds := make([]memory.Round, len(turns))
	var decided []string
	before := ""
	for i, t := range turns {
		own := ownWords(t)
		answer := chars.WithoutToolMarks(own)
		result := own[strings.LastIndex(own, chars.ToolMark)+1:]
		decides := t.User
		if t.ByAgent {
			decides = ""
		}
		rounds[i] = memory.Round{User: chars.WithoutBlockMarks(t.User), Assistant: chars.WithoutToolMarks(t.Assistant),
			Result:  stated.Gist(chars.Cut(result, readOfTurn)),
			Decided: stated.Decided(before, chars.Cut(decides, readOfTurn)),
			Agreed:  stated.Agreed(chars.Cut(answer, readOfTurn)), Changed: Changed(t.Tools, t.Cwd),
			Open: stated.Open(chars.Cut(result, readOfTurn))}
		decided = append(decided, rounds[i].Decided...)
		before = answer
	}
	reverted := stated.Reverted(decided)
	for i := range rounds {
		rounds[i].Decided = slices.DeleteFunc(rounds[i].Decided, func(text string) bool { return reverted[text] != "" })
	}
	return rounds
}

// Changed returns the files that tools have changed, relative to a folder where they are below it.
func Changed(tools []correlation.ToolCall, cwd string) (paths []string) {
	for _, tool := range tools {
		if !slices.Contains([]string{"edit", "delete", "move"}, tool.Kind) || tool.Status == "failed" {
			continue
		}
		for _, path := range tool.Locations {
			if rest, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rest) {
				path = rest
			}
			paths = append(paths, path)
		}
	}
	return paths
}

// Digest returns the digest of a session, by its row's id, and when it ended.
func (s *Store) Digest(ctx context.Context, session int64) (d memory.Digest, at time.Time, err error) {
	turns, err := correlation.LastSaid(ctx, s.db, session, turnsOfDigest)
	if err != nil || len(turns) == 0 {
		return d, at, sqlite.While("reading a session for its digest", err)
	}
	return memory.DigestOf(Rounds(turns)), sqlite.Unstamp(turns[len(turns)-1].Started), nil
}

// recallDigests returns the digest of the session that a prompt goes on with, of those that were found for it. Where
// nothing was found, and the prompt names nothing, it is those of the last sessions.
func (s *Store) recallDigests(ctx context.Context, q *rank.Query, ranked []*rank.Passage,
	in search) ([]memory.Item, error) {
	var sessions []int64
	switch found := len(ranked) > 0; {
	case found && (stated.GoesOn(in.text) || stated.NamesWork(in.text) && q.Named()):
		sessions = []int64{sessionOf(ranked)}
	case !found && stated.GoesOn(in.text) && q.Silent():
		var err error
		if sessions, err = correlation.LastSessions(ctx, s.db, in.project, in.keys, maxRecent); err != nil {
			return nil, err
		}
	}
	return s.digests(ctx, sessions, in)
}

// digests returns those of sessions as items.
func (s *Store) digests(ctx context.Context, sessions []int64, in search) (items []memory.Item, err error) {
	for _, id := range sessions {
		d, at, err := s.Digest(ctx, id)
		if err != nil {
			return nil, err
		}
		text := d.Text()
		if len(sessions) > 1 {
			text = d.Short()
		}
		if text = privacy.Redact(text); text != "" && !slices.Contains(in.seen, text) {
			items = append(items, memory.Item{Text: text, Project: in.project, Date: at})
		}
	}
	return items, nil
}

// sessionOf returns the session that holds most of what was found for a prompt, 0 for none.
func sessionOf(ranked []*rank.Passage) (session int64) {
	held := map[int64]float64{}
	for _, p := range ranked[:min(len(ranked), bestOfDigest)] {
		if p.Thread <= 0 {
			continue
		}
		if held[p.Thread] += max(p.Score, 0); held[p.Thread] > held[session] {
			session = p.Thread
		}
	}
	return session
}
