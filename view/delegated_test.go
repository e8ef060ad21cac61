package view_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/view"
	"github.com/Signet-AI/signet-acp-proxy/view/viewtest"
)

// What agents asked of each other stands with who asked and with who did it: how it ended, or how far it is.
func TestAsked(t *testing.T) {
	src := source(t, viewtest.Sample{Turns: 60, Memories: 40})
	live := filepath.Join(filepath.Dir(databaseOf(t, src)), "live")
	lock, err := correlation.TakeLock(live, "runner")
	if err != nil {
		t.Fatal(err)
	}
	running := func(id, runner string) {
		exec(t, src.DB, `INSERT INTO delegations (id, caller, root, depth, key, agent, state, runner, created,
			started, work, request) VALUES (?1, 'acp-00000003', 'acp-00000003', 1, ?1, 'qwen', 'running', ?2, 1, 1,
			'{"progress":"2 turns, reads chart.go","last":"It has three axes.","usage":{}}', '{"harness":"opencode","mode":"edit","kind":"review",
			"scope":"the chart","kept":"the log","task":"Draw it."}')`, id, runner)
	}
	running("01l1", "runner")
	running("01l2", "nobody")
	exec(t, src.DB, `UPDATE turns SET delegation = '01l1' WHERE id = (SELECT max(id) FROM turns)`)
	exec(t, src.DB, `UPDATE delegations SET work = json_patch(work,
		'{"usage":{"turns":3,"tokens":1200,"cost":0.25,"currency":"USD"}}') WHERE id = '01l1'`)
	if text := write(t, src).section("overview"); !strings.Contains(text, "Working now") || !strings.Contains(text, "It has three axes.") ||
		!strings.Contains(text, "qwen for Qwen Code: the chart running") || strings.Contains(text, "lost") {
		t.Errorf("the overview: %.2000s", text)
	}
	text := write(t, src).section("sessions")
	for _, want := range []string{
		"Task from Codex: the tests of package chart done, 40m",
		"OpenCode, to read: the tests of package chart", "Caller keeps: the release notes",
		"1 agent works for it", "qwen, to edit: the chart running", ": 2 turns, reads chart.go",
		"qwen, to edit: the chart lost", "OpenCode, which delegated", "3 turns, 1,200 tokens", "its runner was killed",
		"stopped, 40m: its budget of 20 turns is used up",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if text := write(t, src).section("sessions"); strings.Contains(text, "at work for it") {
		t.Error("a runner that is gone is at work")
	}
}

// Who looks at a served page can end what is being worked on.
func TestLiveEndsWork(t *testing.T) {
	s := serve(t, viewtest.Sample{Turns: 3})
	lock, err := correlation.TakeLock(filepath.Join(filepath.Dir(databaseOf(t, s.src)), "live"), "runner")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	exec(t, s.src.DB, `INSERT INTO delegations (id, caller, root, depth, key, agent, state, runner, created, started,
		request) SELECT '01l1', key, key, 1, 'k', 'qwen', 'running', 'runner', 1, 1, '{"mode":"edit","scope":"the chart"}'
		FROM sessions WHERE id = (SELECT max(session) FROM turns)`)
	var session int64
	if err := s.src.DB.QueryRow(`SELECT max(session) FROM turns`).Scan(&session); err != nil {
		t.Fatal(err)
	}
	if _, text := s.do("GET", fmt.Sprint("sessions/", session), ""); !strings.Contains(text, `data-id="01l1"><button type="button" data-do="end"`) {
		t.Errorf("there is no button: %.2000s", text)
	}
	for id, want := range map[string]int{"01l1": 204, "01l2": 409} {
		if code, text := s.do("POST", "delegations/"+id+"/end", "{}", "Origin", s.origin()); code != want {
			t.Errorf("ending %s: %d %s", id, code, text)
		}
	}
}

// The timeline has a lane for each project and a bar for each day, and leads to that day.
func TestTimeline(t *testing.T) {
	src := source(t, viewtest.Sample{Turns: 60})
	p, err := view.Read(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	lanes, sessions, days := p.Timeline.Lanes, 0, map[string]bool{}
	for _, s := range p.Listed {
		days[s.LastActive.Local().Format(time.DateOnly)] = true
	}
	for _, l := range lanes {
		sessions += l.Sessions
		for i, m := range l.Bars {
			if !days[m.Day] || m.Parts[0].Height <= 0 || m.Parts[0].Y < 0 || i > 0 && m.X <= l.Bars[i-1].X {
				t.Errorf("lane %s: %+v", l.Project, m)
			}
		}
	}
	if len(lanes) != 6 || lanes[0].Project != "/home/sample/src/curlew" || sessions != 20 {
		t.Errorf("%d lanes of %d sessions, the first of %s", len(lanes), sessions, lanes[0].Project)
	}
	exec(t, src.DB, `UPDATE sessions SET project = '/p' || id`)
	if p, err = view.Read(t.Context(), src); err != nil {
		t.Fatal(err)
	}
	lanes = p.Timeline.Lanes
	if last := lanes[len(lanes)-1]; len(lanes) != 8 || last.Others != 13 || last.Sessions != 13 {
		t.Errorf("of 20 projects: %d lanes, the last of %d others, %d sessions", len(lanes), last.Others, last.Sessions)
	}
}
