package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
)

// BackfillSource is what the sessions are from that a harness has written down itself, as `forget --source` names it.
func BackfillSource(agent string) string { return "backfill:" + agent }

// A Backfill takes in what harnesses have written down.
type Backfill struct {
	Data    *Data
	DryRun  bool      // only count
	Since   time.Time // conversations that went on after it; zero: all
	Project string    // of this project alone; "": of all
	Deliver bool      // and hand it to the daemon, at its pace
	Step    func(agent string, files int)
}

// A Backfilled is what was found of one agent.
type Backfilled struct {
	Agent    string          `json:"agent"`
	Files    int             `json:"files"`
	Sessions int             `json:"sessions"`
	Turns    int             `json:"turns"` // new ones
	Skipped  []backfill.Skip `json:"skipped"`
}

// Run takes in what the agents have written, in their order.
func (b Backfill) Run(ctx context.Context, agents []string) (all []Backfilled, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	process := ""
	if b.Deliver && !b.DryRun {
		c := b.Data.Config
		p, err := b.Data.Sessions.Register(ctx, correlation.ProcessInfo{
			Kind: correlation.Relay, Harness: "backfill", Version: Version, SignetPath: c.SignetPath, Memory: c.Memory,
		})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, p.End(ctx, "backfill")) }() // which leaves what is owed for the worker
		process = p.ID()
	}
	for _, agent := range agents {
		in := &intake{Backfill: b, process: process, gone: map[string]bool{},
			got: Backfilled{Agent: agent, Skipped: []backfill.Skip{}}}
		err := backfill.Walk(ctx, backfill.Place{Home: home, Getenv: os.Getenv}, agent, backfill.Found{
			File: func(string) {
				if in.got.Files++; b.Step != nil {
					b.Step(agent, in.got.Files)
				}
			},
			Skip:         func(_ string, s backfill.Skip) { in.skip(s) },
			Conversation: func(c backfill.Conversation) error { return in.take(ctx, c) },
		})
		if err != nil {
			return all, err
		}
		all = append(all, in.result())
	}
	if b.DryRun {
		return all, nil
	}
	return all, b.Data.Memories.Learn(ctx)
}

// mostSkipped is how many files are named that nothing was taken of; the others are counted.
const mostSkipped = 1000

// An intake takes in what one agent has written.
type intake struct {
	Backfill
	process string
	got     Backfilled
	skipped int // files that are not named

	file, id string              // the conversation whose parts are coming
	into     *correlation.Import // nil where it is not wanted
	counted  bool                // it counts as one

	gone map[string]bool // whether a conversation that others were copied from was forgotten
}

func (in *intake) skip(s backfill.Skip) {
	if len(in.got.Skipped) == mostSkipped {
		in.skipped++
		return
	}
	in.got.Skipped = append(in.got.Skipped, s)
}

// result is what came of it.
func (in *intake) result() Backfilled {
	if in.skipped > 0 {
		in.got.Skipped = append(in.got.Skipped, backfill.Skip{Why: fmt.Sprintf("and %d more files", in.skipped)})
	}
	return in.got
}

// take takes in one conversation, or a part of one, unless a person does not want it.
func (in *intake) take(ctx context.Context, c backfill.Conversation) error {
	last := c.Turns[len(c.Turns)-1]
	project := memory.Project(c.Cwd)
	first := c.File != in.file || c.ID != in.id
	if first {
		in.file, in.id, in.into, in.counted = c.File, c.ID, nil, false
	}
	switch {
	case !in.Since.IsZero() && last.Ended.Before(in.Since), in.Project != "" && project != in.Project:
		return nil
	case slices.ContainsFunc(append(c.Also, c.Cwd), func(folder string) bool {
		return memory.OptedOut(folder, in.Data.Config.Exclude)
	}):
		if first {
			in.skip(backfill.Skip{File: c.File, Why: "its folder is left out of memory (.signet-ignore or exclude)"})
		}
		return nil
	case in.DryRun:
		in.count(len(c.Turns))
		return nil
	}
	err := in.leaveForgotten(ctx, &c)
	if err == nil && in.into == nil {
		in.into, err = in.Data.Sessions.Import(ctx, correlation.OpenSession{
			Harness: c.Agent, ACPID: c.ID, Cwd: c.Cwd, Project: project, AgentID: in.Data.Config.AgentID,
			Client: BackfillSource(c.Agent), Agent: c.Agent, Process: in.process,
		})
	}
	if errors.Is(err, correlation.ErrForgotten) {
		if first {
			in.skip(backfill.Skip{File: c.File, Why: "it was forgotten"})
		}
		return nil
	}
	if err != nil {
		return err
	}
	added, err := in.into.Add(ctx, turnsOf(c))
	in.count(added)
	return err
}

// leaveForgotten leaves out turns that were copied from a conversation that was forgotten.
func (in *intake) leaveForgotten(ctx context.Context, c *backfill.Conversation) (err error) {
	c.Turns = slices.DeleteFunc(c.Turns, func(t backfill.Turn) bool {
		gone, known := in.gone[t.From]
		if t.From != "" && !known && err == nil {
			gone, err = in.Data.Sessions.IsForgotten(ctx, t.From)
			in.gone[t.From] = gone
		}
		return gone
	})
	return err
}

// count counts new turns, and with the first of them their conversation.
func (in *intake) count(turns int) {
	if turns > 0 && !in.counted {
		in.counted = true
		in.got.Sessions++
	}
	in.got.Turns += turns
}

// turnsOf gives the turns of a conversation as they may be stored.
func turnsOf(c backfill.Conversation) []correlation.Turn {
	turns := make([]correlation.Turn, 0, len(c.Turns))
	for _, t := range c.Turns {
		t = backfill.Clean(t)
		if t.Started.IsZero() {
			t.Started = time.Now()
		}
		if t.Ended.Before(t.Started) {
			t.Ended = t.Started
		}
		turns = append(turns, correlation.Turn{User: t.User, Assistant: t.Assistant, Started: t.Started, Ended: t.Ended,
			Stop: "end_turn"})
	}
	return turns
}
