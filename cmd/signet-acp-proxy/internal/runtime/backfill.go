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
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// backfillSource names the origin of imported sessions, as `forget --source` has it.
func backfillSource(agent string) string { return "backfill:" + agent }

// A Backfill imports the conversations that harnesses have written down.
type Backfill struct {
	Data    *Data
	DryRun  bool                          // only count
	Since   time.Time                     // conversations that ended after it; zero: all
	Project string                        // conversations of this project; "": all
	Deliver bool                          // hand them to the daemon, too
	Step    func(agent string, files int) // called before each file; may be nil
}

// A Backfilled says what was found of one agent. Its JSON names are a promise.
type Backfilled struct {
	Agent    string          `json:"agent"`
	Files    int             `json:"files"`
	Sessions int             `json:"sessions"`
	Turns    int             `json:"turns"` // new ones
	Skipped  []backfill.Skip `json:"skipped"`
}

// bulkCache lets SQLite keep 16 MB of pages, because an import writes all over the indexes. Fewer checkpoints would
// save as much, but a relay beside the import would then have to make them.
const bulkCache = `PRAGMA cache_size = -16384`

// Run imports what the agents have written, one agent after the other.
func (b Backfill) Run(ctx context.Context, agents []string) (all []Backfilled, err error) {
	home, err := memory.Home()
	if err != nil {
		return nil, err
	}
	if !b.DryRun {
		if _, err := b.Data.DB.ExecContext(ctx, bulkCache); err != nil {
			return nil, sqlite.While("preparing to take in conversations", err)
		}
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
		defer func() { err = errors.Join(err, p.End(ctx, "backfill")) }() // which makes what is owed due
		process = p.ID()
	}
	for _, agent := range agents {
		in := &intake{Backfill: b, process: process, gone: map[string]bool{},
			got: Backfilled{Agent: agent, Skipped: []backfill.Skip{}}}
		err := backfill.Walk(ctx, backfill.Place{Home: home, Getenv: os.Getenv}, agent, backfill.Visitor{
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

// mostSkipped is how many skipped files are named; the others are counted.
const mostSkipped = 1000

// An intake imports what one agent has written.
type intake struct {
	Backfill
	process string
	got     Backfilled
	skipped int // skipped files past mostSkipped

	file, id string              // of the conversation that is being imported
	into     *correlation.Import // nil until a part of it is imported
	counted  bool                // it is counted in got.Sessions

	last struct { // the last result of about
		known, out   bool
		cwd, project string
	}

	gone map[string]bool // by conversation: whether it was forgotten
}

func (in *intake) skip(s backfill.Skip) {
	if len(in.got.Skipped) == mostSkipped {
		in.skipped++
		return
	}
	in.got.Skipped = append(in.got.Skipped, s)
}

// result gives what was found.
func (in *intake) result() Backfilled {
	if in.skipped > 0 {
		in.got.Skipped = append(in.got.Skipped, backfill.Skip{Why: fmt.Sprintf("and %d more files", in.skipped)})
	}
	return in.got
}

// take imports one conversation, or a part of one, unless it is filtered out, opted out or forgotten.
func (in *intake) take(ctx context.Context, c backfill.Conversation) error {
	last := c.Turns[len(c.Turns)-1]
	project, out := in.about(c.Cwd, c.OtherFolders)
	first := c.File != in.file || c.ID != in.id
	if first {
		in.file, in.id, in.into, in.counted = c.File, c.ID, nil, false
	}
	switch {
	case !in.Since.IsZero() && last.Ended.Before(in.Since), in.Project != "" && project != in.Project:
		return nil
	case out:
		if first {
			in.skip(backfill.Skip{File: c.File, Why: "its folder is left out of memory (.signet-ignore or exclude)"})
		}
		return nil
	}
	err := in.leaveForgotten(ctx, &c)
	if err == nil && in.into == nil {
		in.into, err = in.Data.Sessions.Import(ctx, correlation.OpenSession{
			Harness: c.Agent, ACPID: c.ID, Cwd: c.Cwd, Project: project, AgentID: in.Data.Config.AgentID,
			Client: backfillSource(c.Agent), Agent: c.Agent, Process: in.process,
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
	added, err := in.add(ctx, turnsOf(c))
	in.count(added)
	return err
}

// about gives the project of a conversation, and whether one of its folders is left out of memory. The last result is
// kept, because consecutive conversations mostly have the same folder.
func (in *intake) about(cwd string, also []string) (project string, out bool) {
	leftOut := func(folder string) bool { return memory.OptedOut(folder, in.Data.Config.Exclude) }
	if in.last.known && in.last.cwd == cwd {
		project, out = in.last.project, in.last.out
	} else {
		project, out = memory.Project(cwd), leftOut(cwd)
		in.last.known, in.last.cwd, in.last.project, in.last.out = true, cwd, project, out
	}
	return project, out || slices.ContainsFunc(also, leftOut)
}

// add imports turns of the conversation; with DryRun it counts those that are new.
func (in *intake) add(ctx context.Context, turns []correlation.Turn) (added int, err error) {
	if in.DryRun {
		fresh, err := in.into.NewTurns(ctx, turns)
		return len(fresh), err
	}
	return in.into.Add(ctx, turns)
}

// leaveForgotten removes turns that were copied from a conversation that was forgotten.
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

// turnsOf gives the turns of a conversation as they are stored.
func turnsOf(c backfill.Conversation) []correlation.Turn {
	turns := make([]correlation.Turn, 0, len(c.Turns))
	var private []string
	for _, t := range c.Turns {
		t, private = backfill.Clean(t, private)
		if t.Started.IsZero() {
			t.Started = time.Now()
		}
		if t.Ended.Before(t.Started) {
			t.Ended = t.Started
		}
		tools := make([]correlation.ToolCall, 0, len(t.Tools))
		for _, call := range t.Tools {
			tools = append(tools, correlation.ToolCall{Title: call.Title, Kind: call.Kind, Status: "completed",
				Locations: call.Paths})
		}
		turns = append(turns, correlation.Turn{User: t.User, Assistant: t.Assistant, Tools: tools, Started: t.Started,
			Ended: t.Ended, Stop: "end_turn"})
	}
	return turns
}
