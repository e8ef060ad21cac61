package embedded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A teamSession is a session of TEAM, a line of JSON each, in the order of their starts.
type teamSession struct {
	ID    string
	Turns []spoken
}

// files returns the files of the project that tools of a kind were called with, each once.
func (s teamSession) files(kind string) (files []string) {
	for _, turn := range s.Turns {
		for _, part := range turn.Agent {
			for _, path := range part.Paths {
				if part.Tool == kind && !strings.HasPrefix(path, "~") && !slices.Contains(files, path) {
					files = append(files, path)
				}
			}
		}
	}
	return files
}

// beforeEdit counts what was read and searched before the first edit, and how much of it touched some files.
func (s teamSession) beforeEdit(files []string) (n tally) {
	for _, turn := range s.Turns {
		for _, part := range turn.Agent {
			switch part.Tool {
			case "edit":
				return n
			case "read", "search":
				n.add(slices.ContainsFunc(part.Paths, func(path string) bool { return slices.Contains(files, path) }))
			}
		}
	}
	return tally{}
}

// without returns those of the first list that are not in the second.
func without(list, gone []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(gone, one) })
}

const firstAsked = 10 // sessions that are known before the first is asked

// TestRecallTeam replays real sessions in the order of time: before one goes in, it is asked with its first prompt what
// it would be told of Where, and that is held against the files that it then edited and read. What is learned from what
// was used may lower nothing, and must lower what is told beside the point.
func TestRecallTeam(t *testing.T) {
	file := os.Getenv("TEAM")
	if file == "" {
		t.Skip("TEAM names no file")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var sessions []teamSession
	for line := range bytes.Lines(data) {
		var s teamSession
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	without, with := &replay{}, &replay{learns: true}
	for _, r := range []*replay{without, with} {
		r.run(t, sessions)
		t.Log(r)
	}
	if with.recall.mean() < without.recall.mean() || with.any.share() < without.any.share() ||
		with.reads.mean() < without.reads.mean() || with.beside.share() > without.beside.share() {
		t.Error("what was learned from use makes it worse")
	}
}

// A replay is what came of a team's sessions.
type replay struct {
	learns bool
	known  []string // files that sessions edited or read

	recall, reads mean  // of the files that were then edited, and read, by session
	any           tally // sessions with one of the former
	beside        tally // told files that the session did not touch
	silent        tally // sessions that edited no known file, which were told some
	early         tally // reads and searches before the first edit
	where, block  mean  // bytes
}

func (r *replay) String() string {
	return fmt.Sprintf("learns %v: recall@10 %.3f, any %.3f, of %d; reads %.3f; beside the point %.3f of %d files; told where "+
		"no known file was edited %d of %d; of reads and searches before the first edit %.3f of %d; %.0f bytes of %.0f",
		r.learns, r.recall.mean(), r.any.share(), r.any.of, r.reads.mean(), r.beside.share(), r.beside.of, r.silent.hits,
		r.silent.of, r.early.share(), r.early.of, r.where.mean(), r.block.mean())
}

// A mean is the mean of some figures.
type mean struct{ sum, of float64 }

func (m *mean) add(v float64) { m.sum, m.of = m.sum+v, m.of+1 }

func (m mean) mean() float64 { return m.sum / max(m.of, 1) }

func (r *replay) run(t *testing.T, sessions []teamSession) {
	top := repository(t)
	w := newWorld(t)
	for n, s := range sessions {
		w.now = s.Turns[0].At
		var block memory.Block
		if n >= firstAsked {
			c, err := w.Recall(t.Context(), memory.Session{Key: "asking", Cwd: top, Project: top}, s.Turns[0].User, nil)
			if err != nil {
				t.Fatal(err)
			}
			block, _ = memory.Compose("asking", memory.Context{}, c, false)
			r.judge(s, block)
		}
		var turns []corpusTurn
		for _, said := range s.Turns {
			turns = append(turns, said.turn(top))
		}
		w.held(top, s.ID, turns)
		if r.learns {
			w.inserted(s.ID, block.Items)
		}
		for _, path := range without(slices.Concat(s.files("edit"), s.files("read")), r.known) {
			r.known = append(r.known, path)
			full := filepath.Join(top, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Learn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// judge holds what a session was told against what it then did.
func (r *replay) judge(s teamSession, block memory.Block) {
	var told []string
	for _, item := range block.Items {
		if path, isFile := memory.FileOf(item); isFile {
			told = append(told, path)
		}
	}
	edited, read := s.files("edit"), s.files("read")
	old := without(edited, without(edited, r.known))
	gold := slices.DeleteFunc(slices.Clone(old), func(path string) bool {
		return strings.Contains(s.Turns[0].User, filepath.Base(path))
	})
	share := func(of []string) float64 { return 1 - float64(len(without(of, told)))/float64(len(of)) }
	switch {
	case len(gold) > 0:
		r.recall.add(share(gold))
		r.any.add(share(gold) > 0)
		if known := without(read, without(read, r.known)); len(known) > 0 {
			r.reads.add(share(known))
		}
		_, where, _ := strings.Cut(block.Text, "## Where")
		r.where.add(float64(len(where)))
		r.block.add(float64(len(block.Text)))
	case len(old) == 0:
		r.silent.add(len(told) > 0)
	}
	r.beside.addAll(len(without(told, slices.Concat(edited, read))), len(told))
	looked := s.beforeEdit(told)
	r.early.addAll(looked.hits, looked.of)
}
