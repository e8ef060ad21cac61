package embedded

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	turnsOfBrief = 30      // the first of a session, and its last ones
	readOfTurn   = 8 << 10 // bytes of each side that are searched for decisions
	maxRecent    = 2       // sessions whose briefs a prompt is told that names nothing
	fewestOfGoal = 2       // words of a prompt that may be a conversation's goal
	bestOfBrief  = 10      // of the best passages, those that tell which session a prompt goes on with
)

// Rounds reads turns of one conversation, in order, as memory.BriefOf takes them.
func Rounds(turns []correlation.Said) []memory.Round {
	rounds := make([]memory.Round, len(turns))
	var decided []string
	before, done := "", "" // what was answered before, and the result in it
	for i, t := range turns {
		own := ownWords(t)
		answer := chars.WithoutToolMarks(own)
		result := chars.Cut(own[strings.LastIndex(own, chars.ToolMark)+1:], readOfTurn)
		user := chars.Cut(t.User, readOfTurn)
		r := memory.Round{User: chars.WithoutBlockMarks(t.User), Assistant: chars.WithoutToolMarks(t.Assistant),
			At: sqlite.Unstamp(t.Started), Asker: "user", Agent: t.Harness, Result: stated.Gist(result),
			Next: stated.Open(result), Changed: Changed(t.Tools, t.Cwd), Check: checkIn(t.Tools)}
		if t.ByAgent {
			r.Asker = "caller"
		} else {
			r.Decided = stated.Decided(before, user)
			if said, did := stated.StillFails(user), stated.FirstTold(done); said != "" && did != "" {
				r.Failed = did + " / then: " + said
			}
			r.Thin = len(language.Terms(user)) < fewestOfGoal
		}
		reply := ""
		if i+1 < len(turns) {
			reply = turns[i+1].User
		} else {
			r.Question = stated.Question(result)
		}
		r.Agreed, r.GaveUp = stated.Settled(chars.Cut(answer, readOfTurn), reply)
		for _, tool := range t.Tools {
			if tool.Kind == correlation.PlanKind {
				r.Plan, r.Planned = tool.Steps, true
			}
		}
		rounds[i], before, done = r, answer, result
		decided = append(decided, r.Decided...)
	}
	reverted := stated.Reverted(decided)
	for i := range rounds {
		for _, text := range rounds[i].Decided {
			if by := reverted[text]; by != "" {
				rounds[i].GaveUp = append(rounds[i].GaveUp, text+" / taken back: "+by)
			}
		}
		rounds[i].Decided = slices.DeleteFunc(rounds[i].Decided, func(text string) bool { return reverted[text] != "" })
	}
	return rounds
}

// check is a command that says whether the work is right.
var check = pattern.New(`(?i)\b(?:tests?|specs?|lint|check|vet|build|typecheck|type-check|tsc|pytest|jest|vitest|mocha|rspec|` +
	`phpunit|ctest|eslint|ruff|mypy|pyright|clippy|golangci-lint|staticcheck|tox|nox|verify)\b`)

// checkIn returns the last command of tools that checks something, and how it ended as far as that is known.
func checkIn(tools []correlation.ToolCall) string {
	for _, t := range slices.Backward(tools) {
		command := strings.Trim(cmp.Or(t.Command, t.Title), "` \n")
		if t.Kind != "execute" || !check().MatchString(command) {
			continue
		}
		ended := t.Status
		if t.Exit != nil {
			ended = fmt.Sprint("exit ", *t.Exit)
		}
		return "`" + chars.OneLine(command) + "`: " + ended
	}
	return ""
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

// Brief returns the brief of a session, by its row's id, and when it ended.
func (s *Store) Brief(ctx context.Context, session int64) (b memory.Brief, at time.Time, err error) {
	turns, err := correlation.LastSaid(ctx, s.db, session, turnsOfBrief)
	if err != nil || len(turns) == 0 {
		return b, at, sqlite.While("reading a session for its brief", err)
	}
	return memory.BriefOf(Rounds(turns)), sqlite.Unstamp(turns[len(turns)-1].Started), nil
}

// recallBriefs returns the brief of the session that a prompt goes on with, of those that were found for it. Where
// nothing was found, and the prompt names nothing, it is those of the last sessions.
func (s *Store) recallBriefs(ctx context.Context, q *rank.Query, ranked []*rank.Passage,
	in Query) ([]memory.Item, error) {
	var sessions []int64
	switch found := len(ranked) > 0; {
	case found && stated.GoesOn(in.Text): // with the session that holds most of it, 0 for none
		most, held := int64(0), map[int64]float64{}
		for _, p := range ranked[:min(len(ranked), bestOfBrief)] {
			if p.Thread <= 0 {
				continue
			}
			if held[p.Thread] += max(p.Score, 0); held[p.Thread] > held[most] {
				most = p.Thread
			}
		}
		sessions = []int64{most}
	case !found && stated.GoesOn(in.Text) && q.Telling == 0:
		var err error
		if sessions, err = correlation.LastSessions(ctx, s.db, in.Project, in.keys, maxRecent); err != nil {
			return nil, err
		}
	}
	return s.briefs(ctx, sessions, in)
}

// briefs returns those of sessions as items.
func (s *Store) briefs(ctx context.Context, sessions []int64, in Query) (items []memory.Item, err error) {
	for _, id := range sessions {
		b, at, err := s.Brief(ctx, id)
		if err != nil {
			return nil, err
		}
		text := b.Line()
		if len(sessions) > 1 {
			text = b.Short()
		}
		if text = privacy.Redact(text); text != "" && !slices.Contains(in.seen, text) {
			items = append(items, memory.Item{Text: text, Date: at})
		}
	}
	return items, nil
}
