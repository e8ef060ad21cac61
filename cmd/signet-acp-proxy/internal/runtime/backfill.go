package runtime

import (
	"context"
	"errors"
	"os"
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
		got := Backfilled{Agent: agent, Skipped: []backfill.Skip{}}
		err := backfill.Walk(ctx, backfill.Place{Home: home, Getenv: os.Getenv}, agent, backfill.Found{
			File: func(string) {
				if got.Files++; b.Step != nil {
					b.Step(agent, got.Files)
				}
			},
			Skip:         func(_ string, s backfill.Skip) { got.Skipped = append(got.Skipped, s) },
			Conversation: func(c backfill.Conversation) error { return b.take(ctx, process, c, &got) },
		})
		if err != nil {
			return all, err
		}
		all = append(all, got)
	}
	if b.DryRun {
		return all, nil
	}
	return all, b.Data.Memories.Learn(ctx)
}

// take takes in one conversation, unless a person does not want it.
func (b Backfill) take(ctx context.Context, process string, c backfill.Conversation, got *Backfilled) error {
	last := c.Turns[len(c.Turns)-1]
	project := memory.Project(c.Cwd)
	switch {
	case !b.Since.IsZero() && last.Ended.Before(b.Since), b.Project != "" && project != b.Project:
		return nil
	case memory.OptedOut(c.Cwd, b.Data.Config.Exclude):
		got.Skipped = append(got.Skipped, backfill.Skip{File: c.File,
			Why: "its folder is left out of memory (.signet-ignore or exclude)"})
		return nil
	case b.DryRun:
		got.Sessions++
		got.Turns += len(c.Turns)
		return nil
	}
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
	_, added, err := b.Data.Sessions.Import(ctx, correlation.OpenSession{
		Harness: c.Agent, ACPID: c.ID, Cwd: c.Cwd, Project: project, AgentID: b.Data.Config.AgentID,
		Client: BackfillSource(c.Agent), Agent: c.Agent, Process: process,
	}, turns)
	if errors.Is(err, correlation.ErrForgotten) {
		got.Skipped = append(got.Skipped, backfill.Skip{File: c.File, Why: "it was forgotten"})
		return nil
	}
	if err != nil {
		return err
	}
	if added > 0 {
		got.Sessions++
		got.Turns += added
	}
	return nil
}
