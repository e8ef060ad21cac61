package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Backfill imports the conversations that harnesses have written down.
type Backfill struct {
	Data    *Data
	DryRun  bool      // only count
	Since   time.Time // conversations that ended after it; zero: all
	Project string    // conversations of this project; "": all
	Deliver bool      // hand them to the daemon, too
	// Step is called before each file with how many of all files' bytes are done; may be nil
	Step func(agent string, done, total int64)

	// Written, where it is not zero, leaves out files that were not written since. Quiet leaves out those that were
	// written so lately: they are still being written, or a relay records the same just now.
	Written time.Time
	Quiet   time.Duration
}

// A Backfilled says what was found of one agent. Its JSON names are a promise.
type Backfilled struct {
	Agent     string          `json:"agent"`
	Files     int             `json:"files"`
	Sessions  int             `json:"sessions"`
	Turns     int             `json:"turns"` // new ones
	Skipped   []backfill.Skip `json:"skipped"`
	Subagents int             `json:"subagents"` // conversations of subagents, with new turns
	LeftOut   map[string]int  `json:"leftOut"`   // messages and turns by why they were not taken in
}

// Why turns are left out.
const (
	onRecord    = "already saved"
	isLive      = "continued through the proxy"
	wasGone     = "forgotten"
	optedOut    = "in a folder that is excluded from memory"
	tooOld      = "from before --since"
	elsewhere   = "of another project"
	withoutHome = "of a subagent without its session"
)

// BackfillAgents returns the agents whose conversations are taken in unless some are named: all, but those that write
// into projects only where a project is named.
func BackfillAgents(ofProject bool) []string {
	return slices.DeleteFunc(backfill.Agents(), func(agent string) bool { return !ofProject && backfill.Asked(agent) })
}

// bulkCache lets SQLite keep 16 MB of pages, because an import and a removal write all over the indexes. What a
// statement would undo stays in memory, too: in a file it is written for each. A relay beside that may have to make a
// checkpoint of 16 MB.
const bulkCache = `PRAGMA cache_size = -16384; PRAGMA temp_store = memory; PRAGMA wal_autocheckpoint = 4096`

// Bulk prepares the database for a command that writes much.
func (d *Data) Bulk(ctx context.Context) error {
	_, err := d.DB.ExecContext(ctx, bulkCache)
	return sqlite.While("preparing to write much", err)
}

// learnEvery is how many turns are taken in before memory learns from them: a person may interrupt it at any time, and
// what was read until then is known.
const learnEvery = 500

// Run imports what the agents have written, one agent after the other. Where ctx ends, what was taken in is kept, and
// its result returned with the error.
func (b Backfill) Run(ctx context.Context, agents []string) (all []Backfilled, err error) {
	place, err := b.place(ctx)
	if err != nil {
		return nil, err
	}
	var to *correlation.Importer
	if !b.DryRun {
		if err := b.Data.Bulk(ctx); err != nil {
			return nil, err
		}
		end := func() error { return nil }
		if to, end, err = b.importer(ctx); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	until := time.Time{}
	if b.Quiet > 0 {
		until = time.Now().Add(-b.Quiet)
	}
	total, done := int64(0), int64(0)
	if b.Step != nil {
		if total, err = b.size(ctx, place, agents); err != nil {
			return nil, err
		}
	}
	hidden := privacy.FileAt(privateFile(b.Data.Config))
	for _, agent := range agents {
		in := &intake{Backfill: b, to: to, hidden: hidden, folders: map[string]folder{}, gone: map[string]bool{},
			keys: map[string]string{},
			got:  Backfilled{Agent: agent, LeftOut: map[string]int{}, Skipped: []backfill.Skip{}}}
		err := backfill.Walk(ctx, place, agent, backfill.Visitor{
			File: func(bytes int64) bool {
				if in.got.Files++; b.Step != nil {
					b.Step(agent, done, total)
				}
				done += bytes
				return true
			},
			Skip:         in.skip,
			LeftOut:      in.leave,
			Conversation: func(c backfill.Conversation) error { return in.take(ctx, c) },
			Since:        b.Written, Until: until,
		})
		if in.skipped > 0 {
			in.got.Skipped = append(in.got.Skipped, backfill.Skip{Why: fmt.Sprintf("and %d more files", in.skipped)})
		}
		all = append(all, in.got)
		if !b.DryRun {
			err = errors.Join(err, in.learn(ctx))
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// size is how many bytes the agents' files have.
func (b Backfill) size(ctx context.Context, place backfill.Place, agents []string) (total int64, err error) {
	for _, agent := range agents {
		err = errors.Join(err, backfill.Walk(ctx, place, agent, backfill.Visitor{
			File: func(bytes int64) bool { total += bytes; return false },
			Skip: func(backfill.Skip) {}, Since: b.Written,
		}))
	}
	return total, err
}

// learn has memory learn from what was taken in, also where the person does not want to wait for the rest.
func (in *intake) learn(ctx context.Context) error {
	in.unlearned = 0
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnLimit)
	defer cancel()
	if err := in.to.Flush(ctx); err != nil {
		return err
	}
	return in.Data.Memories.Learn(ctx)
}

// learnLimit is how long that may take: many times what it does on a busy machine.
const learnLimit = 10 * time.Minute

// importer returns what takes conversations in, and how that ends: what it owes is due.
func (b Backfill) importer(ctx context.Context) (*correlation.Importer, func() error, error) {
	c := b.Data.Config
	info := correlation.ProcessInfo{Kind: correlation.Relay, Harness: correlation.ImportHarness, Version: Version,
		SignetPath: c.SignetPath, Memory: "embedded"}
	if b.Deliver {
		info.Memory = c.Memory
	}
	p, err := b.Data.Sessions.Register(ctx, info)
	if err != nil {
		return nil, nil, err
	}
	to := &correlation.Importer{Store: b.Data.Sessions, Process: p.ID(), Now: time.Now}
	return to, func() error {
		ctx := context.WithoutCancel(ctx)
		return p.End(ctx, "backfill")
	}, nil
}

// place returns where agents write, with the folders in which people have worked.
func (b Backfill) place(ctx context.Context) (p backfill.Place, err error) {
	p.Getenv, p.Projects = os.Getenv, []string{b.Project}
	if b.Project == "" {
		p.Projects, err = b.Data.Sessions.Book().Projects(ctx)
	}
	home, failed := memory.Home()
	p.Home = home
	return p, cmp.Or(failed, err)
}

// maxSkipped is how many skipped files are named; the others are counted.
const maxSkipped = 1000

// An intake imports what one agent has written.
type intake struct {
	Backfill
	to      *correlation.Importer // nil with DryRun
	hidden  *privacy.File
	got     Backfilled
	skipped int // skipped files past maxSkipped

	file, id string              // of the conversation that is being imported
	into     *correlation.Import // nil until a part of it is imported
	counted  bool                // it is counted in got.Sessions
	private  []string            // what the user marked private in it

	unlearned int // turns from which memory has not learned yet

	folders map[string]folder // by path
	gone    map[string]bool   // by conversation: whether it was forgotten
	keys    map[string]string // by conversation: the key of its session; "" for one that is new, with DryRun
}

// A folder is a working directory.
type folder struct {
	project string
	out     bool // it is left out of memory
}

func (in *intake) skip(s backfill.Skip) {
	if len(in.got.Skipped) == maxSkipped {
		in.skipped++
		return
	}
	in.got.Skipped = append(in.got.Skipped, s)
}

// take imports one conversation, or a part of one, unless it is filtered out, opted out or forgotten.
func (in *intake) take(ctx context.Context, c backfill.Conversation) error {
	if delegationAt(in.Data.Config, c.Cwd) != "" { // recorded by its relay, as what it is
		return nil
	}
	project, out := in.about(c.Cwd, c.OtherFolders)
	if why := in.unwanted(c, project); why != "" {
		in.leave(why, len(c.Turns))
		return nil
	}
	isFirst := c.File != in.file || c.ID != in.id
	if isFirst {
		in.file, in.id, in.into, in.counted, in.private = c.File, c.ID, nil, false, nil
	}
	leave := func(why, said string) error {
		if isFirst && said != "" {
			in.skip(backfill.Skip{File: c.File, Why: said})
		}
		in.leave(why, len(c.Turns))
		return nil
	}
	if out {
		return leave(optedOut, "its folder is excluded from memory (.signet-ignore or exclude)")
	}
	switch known, err := in.begin(ctx, &c, project); {
	case errors.Is(err, correlation.ErrForgotten):
		return leave(wasGone, "it was forgotten")
	case err != nil:
		return err
	case !known:
		return leave(withoutHome, "")
	case in.Quiet > 0 && in.into.Live:
		return leave(isLive, "")
	}
	return in.keep(ctx, c, project)
}

// begin finds or makes the session of a conversation, and takes out turns that were forgotten. known is false for a
// subagent's whose session is not there.
func (in *intake) begin(ctx context.Context, c *backfill.Conversation, project string) (known bool, err error) {
	parent, known, err := in.parent(ctx, *c)
	if err != nil || !known {
		return known, err
	}
	if err := in.leaveForgotten(ctx, c); err != nil || in.into != nil {
		return true, err
	}
	if !in.DryRun && in.to.Waits(c.ID) {
		if err := in.to.Flush(ctx); err != nil {
			return true, err
		}
	}
	in.into, err = in.Data.Sessions.Import(ctx, correlation.OpenSession{
		Harness: c.Agent, ACPID: c.ID, Cwd: c.Cwd, Project: project, AgentID: in.Data.Config.AgentID,
		Client: correlation.Backfill + c.Agent, // as forget --source names it
		Agent:  c.Agent, ParentKey: parent, Key: correlation.NewKey(),
	})
	return true, err
}

// unwanted returns why nobody has asked for a conversation, "" where somebody has.
func (in *intake) unwanted(c backfill.Conversation, project string) string {
	switch {
	case !in.Since.IsZero() && c.Turns[len(c.Turns)-1].Ended.Before(in.Since):
		return tooOld
	case in.Project != "" && project != in.Project:
		return elsewhere
	}
	return ""
}

// keep imports what is new of a conversation, and has memory learn from time to time.
func (in *intake) keep(ctx context.Context, c backfill.Conversation, project string) error {
	turns, err := in.turnsOf(c, project)
	if err != nil {
		return err
	}
	added, err := in.add(ctx, turns)
	if added > 0 || in.into.Session.ID != 0 {
		in.keys[c.ID] = cmp.Or(in.into.Session.Key, in.into.Open.Key)
	}
	in.count(added, c.Parent != "")
	if in.unlearned += added; err == nil && !in.DryRun && in.unlearned >= learnEvery {
		err = in.learn(ctx)
	}
	return err
}

// parent returns the key of the session that has started a subagent, "" for a conversation of the user's. known: it is
// on record, or would be.
func (in *intake) parent(ctx context.Context, c backfill.Conversation) (key string, known bool, err error) {
	child, named := c.HasParent()
	if !child || !named {
		return "", !child, nil
	}
	if key, known = in.keys[c.Parent]; known {
		return key, true, nil
	}
	v, err := in.Data.Sessions.Find(ctx, c.Agent, c.Parent)
	if errors.Is(err, correlation.ErrNotFound) {
		return "", false, nil
	}
	return v.Key, err == nil, err
}

// about returns the project of a conversation, and whether one of its folders is left out of memory.
func (in *intake) about(cwd string, also []string) (project string, out bool) {
	f, known := in.folders[cwd]
	if !known {
		f = folder{memory.Project(cwd), memory.Excluded(cwd, in.Data.Config.Exclude)}
		in.folders[cwd] = f
	}
	return f.project, f.out || slices.ContainsFunc(also, func(path string) bool {
		return memory.Excluded(path, in.Data.Config.Exclude)
	})
}

// add imports turns of the conversation; with DryRun it counts those that are new.
func (in *intake) add(ctx context.Context, told []correlation.TurnTold) (added int, err error) {
	turns := make([]correlation.Turn, len(told))
	for i, t := range told {
		turns[i] = t.Whole
	}
	fresh, forgotten, err := in.into.NewTurns(ctx, turns)
	if err != nil {
		return 0, err
	}
	in.leave(wasGone, forgotten)
	in.leave(onRecord, len(told)-len(fresh)-forgotten)
	if in.DryRun {
		return len(fresh), nil
	}
	for n, i := range fresh {
		told[n] = told[i]
		told[n].Whole.ID = turns[i].ID // of one that has grown
	}
	if len(fresh) > 0 && in.into.Session.ID == 0 && in.into.Open.Began.IsZero() {
		in.into.Open.Began = told[0].Whole.Started
	}
	return len(fresh), in.to.Add(ctx, in.into, told[:len(fresh)])
}

func (in *intake) leave(why string, turns int) {
	if turns > 0 {
		in.got.LeftOut[why] += turns
	}
}

// leaveForgotten removes turns that were copied from a conversation that was forgotten.
func (in *intake) leaveForgotten(ctx context.Context, c *backfill.Conversation) (err error) {
	before := len(c.Turns)
	c.Turns = slices.DeleteFunc(c.Turns, func(t backfill.Turn) bool {
		gone, known := in.gone[t.From]
		if t.From != "" && !known && err == nil {
			gone, err = in.Data.Sessions.IsForgotten(ctx, t.From)
			in.gone[t.From] = gone
		}
		return gone
	})
	in.leave(wasGone, before-len(c.Turns))
	return err
}

// count counts new turns, and with the first of them their conversation.
func (in *intake) count(turns int, ofSubagent bool) {
	first := turns > 0 && !in.counted
	in.counted = in.counted || first
	switch {
	case !ofSubagent:
		in.got.Turns += turns
		if first {
			in.got.Sessions++
		}
	case first:
		in.got.Subagents++
	}
}

// turnsOf returns the turns of a conversation as they are stored: also without what was marked private elsewhere in the
// project.
func (in *intake) turnsOf(c backfill.Conversation, project string) ([]correlation.TurnTold, error) {
	turns := make([]correlation.TurnTold, 0, len(c.Turns))
	for _, t := range c.Turns {
		known := len(in.private)
		t, in.private = backfill.Clean(t, in.private)
		if !in.DryRun {
			if err := in.hidden.Keep(project, in.private[known:]); err != nil {
				return nil, err
			}
		}
		t.Assistant = in.hidden.Conceal(project, t.Assistant)
		if t.Started.IsZero() {
			t.Started = time.Now()
		}
		if t.Ended.Before(t.Started) {
			t.Ended = t.Started
		}
		tools := make([]correlation.ToolCall, 0, len(t.Tools))
		for _, call := range t.Tools {
			for _, list := range [][]string{call.Paths, call.Steps} {
				for n, text := range list {
					list[n] = in.hidden.Conceal(project, text)
				}
			}
			call.Title = in.hidden.Conceal(project, call.Title)
			status := "completed"
			if call.Failed {
				status = "failed"
			}
			tools = append(tools, correlation.ToolCall{Title: call.Title, Kind: call.Kind, Status: status,
				Locations: call.Paths, Exit: call.Exit, Steps: call.Steps})
		}
		turns = append(turns, correlation.TurnTold{Command: t.Command, Notes: t.Notes, Whole: correlation.Turn{
			User: t.User, Assistant: t.Assistant, Tools: tools, Started: t.Started, Ended: t.Ended,
			Stop: cmp.Or(t.Stop, "end_turn")}})
	}
	return turns, nil
}

// quiet is how long a file must not have been written before it is read.
const quiet = 20 * time.Second

// Watch takes in what agents write, until ctx ends, and calls done with each result that has something new. It looks
// every ten seconds, or less often where looking takes long.
func (b Backfill) Watch(ctx context.Context, agents []string, done func([]Backfilled)) error {
	for {
		began := time.Now()
		eventlog.FoldAll(ctx, b.Data.Sessions, b.Data.Log.Logger, nil)
		all, err := b.Run(ctx, agents)
		for _, got := range all {
			if got.Turns+got.Subagents > 0 {
				done([]Backfilled{got})
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		b.Written, b.Quiet = began.Add(-quiet), quiet
		select {
		case <-time.After(max(10*time.Second, 50*time.Since(began))):
		case <-ctx.Done():
			return nil
		}
	}
}
