package delegation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/e2e/echoagent/agent"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// The test binary is also the child, without a relay before it.
func TestMain(m *testing.M) {
	if os.Getenv("ECHOAGENT_DIR") == "" {
		os.Exit(m.Run())
	}
	if err := agent.Run(agent.Options{Name: "codex", NoLoad: os.Getenv("TEST_NO_LOAD") != ""}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A stage is where one delegation after the other is run.
type stage struct {
	*Ledger
	Runner
	t         *testing.T
	dir, echo string // the caller's folder, echoagent's
	ended     []Delegation
}

func newStage(t *testing.T) *stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Ledger: newLedger(t), t: t, dir: t.TempDir(), echo: t.TempDir()}
	t.Setenv("ECHOAGENT_DIR", s.echo)
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	s.write("heron.txt")
	s.Runner = Runner{Ledger: s.Ledger, Command: []string{self},
		ReadMode: func(string) string { return "" }, Made: func(Delegation, string) error { return nil },
		Ended: func(_ context.Context, d *Delegation) { s.ended = append(s.ended, *d) }}
	return s
}

// write makes a file in the caller's folder.
func (s *stage) write(name string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(name), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run has a request carried out, and returns its row.
func (s *stage) run(ctx context.Context, r Request) Delegation {
	s.t.Helper()
	d := s.must(s.t, Caller{Cwd: s.dir, Harness: "claude"}, r)
	if err := s.Run(ctx, d.ID, r.Task); err != nil {
		s.t.Fatal(err)
	}
	d, err := s.Get(s.t.Context(), d.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// requests are what the agent was asked since the last call.
func (s *stage) requests() string {
	asked := s.asked()
	_ = os.Remove(filepath.Join(s.echo, "requests.log"))
	return asked
}

func (s *stage) asked() string {
	text, _ := os.ReadFile(filepath.Join(s.echo, "requests.log"))
	var methods []string
	for line := range strings.Lines(string(text)) {
		_, method, _ := strings.Cut(line, `"method":"`)
		method, _, _ = strings.Cut(method, `"`)
		methods = append(methods, method)
	}
	return strings.Join(methods, " ")
}

const opening = "initialize session/new "

// However the child behaves, the row says what became of it.
func TestRun(t *testing.T) {
	inMode := func(mode string) func(*stage, *Request) {
		return func(s *stage, _ *Request) { s.ReadMode = func(string) string { return mode } }
	}
	for name, tt := range map[string]struct {
		faults string // of echoagent, without what they begin with
		change func(*stage, *Request)
		state  State
		reason string // "" and what it may begin with
		answer string
		asked  string
		more   func(*testing.T, *stage, Delegation)
	}{
		"reads": {"WRITE=new.txt", nil, Done, "", "> Look.", opening + "session/prompt",
			func(t *testing.T, s *stage, d Delegation) {
				if d.Stop != "end_turn" || len(d.Paths) != 1 || d.Folder+d.Branch != "" || d.Tree == "" || d.Usage.Turns != 1 {
					t.Errorf("%+v", d)
				}
			}},
		"edits": {"WRITE=new.txt", func(_ *stage, r *Request) { r.Mode = Edit }, Done, "", "> Look.", opening + "session/prompt",
			func(t *testing.T, s *stage, d Delegation) {
				root := filepath.Join(s.folders, d.ID)
				if d.Branch == "" || d.Folder != root || d.Tree != root {
					t.Errorf("%+v", d)
				}
			}},
		"cannot load": {"WRITE=new.txt", func(s *stage, _ *Request) { s.t.Setenv("TEST_NO_LOAD", "1") }, Done, "", "> Look.",
			opening + "session/prompt", func(t *testing.T, s *stage, d Delegation) {
				if left, _ := os.ReadDir(s.folders); d.Tree != "" || len(left) > 0 {
					t.Errorf("%v is left, %+v", left, d)
				}
			}},
		"dies": {"DIE=1", nil, Failed, "the agent ended (exit status 7): echoagent: told to die in the turn", "",
			opening + "session/prompt", nil},
		"fails":             {"FAIL=1:-32603", nil, Failed, "told to fail (-32603)", "", opening + "session/prompt", nil},
		"wants a login":     {"LOGIN=1", nil, Failed, "opening its session: Authentication required", "", "initialize", nil},
		"says what is none": {"JUNK=1", nil, Done, "", "> Look.", opening + "session/prompt", nil},
		"asks": {"ASK=1", nil, Done, "", "> Look.", opening + "session/prompt", func(t *testing.T, s *stage, d Delegation) {
			if diff := cmp.Diff([]string{"Write a file: mode is read"}, d.Refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		}},
		"talks": {"FLOOD=8000 TERSE=1", nil, Done, "", "word 0 ", opening + "session/prompt",
			func(t *testing.T, s *stage, d Delegation) {
				if len(d.Answer) > 3*maxAnswer {
					t.Errorf("an answer of %d bytes", len(d.Answer))
				}
			}},
		"uses tools": {"STEPS=3", nil, Done, "", "> Look.", opening + "session/prompt", func(t *testing.T, s *stage, d Delegation) {
			if d.Usage.Turns != 4 {
				t.Errorf("%+v", d.Usage)
			}
		}},
		"past its budget": {"STEPS=3", func(_ *stage, r *Request) { r.Budget.Turns = 2 }, Stopped,
			"its budget of 2 turns is used up", "", "*", nil},
		"past its time": {"HANG=initialize", func(_ *stage, r *Request) { r.Budget.Seconds = 1 }, Stopped,
			"its budget of 1 seconds is used up", "", "initialize", nil},
		"heeds a cancel": {"SLOW=1m", cancelOnce(spoke), Cancelled, "its caller cancelled it", "I was given 1 block",
			opening + "session/prompt session/cancel", nil},
		"heeds none": {"HANG=session/prompt", cancelOnce(prompted), Cancelled, "its caller cancelled it", "",
			opening + "session/prompt session/cancel", nil},
		"in its mode":          {"", inMode("code"), Done, "", "> Look.", opening + "session/set_mode session/prompt", nil},
		"without its mode":     {"", inMode("plan"), Failed, "its session has no mode plan", "", "initialize session/new", nil},
		"a mode that is named": {"", func(_ *stage, r *Request) { r.SessionMode = "code" }, Failed, `session mode "code" could`, "", "initialize session/new", nil},
		"and may be": {"", func(s *stage, r *Request) { r.SessionMode, s.Unbounded = "Code", true }, Done, "", "> Look.",
			opening + "session/set_mode session/prompt", nil},
		"a model that is none": {"", func(_ *stage, r *Request) { r.Model = "big" }, Failed, "it offers no model", "", "initialize session/new", nil},
		"cannot be started": {"", func(s *stage, _ *Request) { s.Command = []string{s.dir + "/none"} }, Failed,
			"harness not started", "", "", nil},
		"no folder": {"", func(s *stage, _ *Request) { s.dir = filepath.Join(s.dir, "none") }, Failed, "finding the caller's folder",
			"", "", nil},
		"a folder that is refused": {"", func(s *stage, _ *Request) {
			s.Made = func(Delegation, string) error { return errors.New("not that") }
		}, Failed, "not that", "", "", func(t *testing.T, s *stage, d Delegation) {
			if left, _ := os.ReadDir(s.folders); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		}},
		"a large folder": {"", func(s *stage, r *Request) {
			s.write("large")
			if err := os.Truncate(filepath.Join(s.dir, "large"), 1<<30); err != nil {
				s.t.Fatal(err)
			}
			inMode("code")(s, r)
		}, Done, "", "> Look.", opening + "session/set_mode session/prompt", func(t *testing.T, s *stage, d Delegation) {
			if left, _ := os.ReadDir(s.folders); d.Tree != "" || len(left) > 0 {
				t.Errorf("%v is left, %+v", left, d)
			}
		}},
		"a large folder, to edit": {"", func(s *stage, r *Request) {
			s.write("large")
			if err := os.Truncate(filepath.Join(s.dir, "large"), 1<<30); err != nil {
				s.t.Fatal(err)
			}
			r.Mode = Edit
			inMode("code")(s, r)
		}, Failed, "making a folder for it: ", "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.t = t
			for fault := range strings.FieldsSeq(tt.faults) {
				name, value, _ := strings.Cut(fault, "=")
				t.Setenv("ECHOAGENT_"+name, value)
			}
			r := Request{Agent: "codex", Task: "Look.", Scope: "heron.txt", Kept: "the release"}
			if tt.change != nil {
				tt.change(s, &r)
			}
			d := s.run(t.Context(), r)
			if d.State != tt.state || !strings.HasPrefix(d.Reason, tt.reason) || (d.Reason == "") != (tt.reason == "") ||
				!strings.Contains(d.Answer, tt.answer) || len(s.ended) != 1 || s.ended[0].State != d.State ||
				s.ended[0].ACPID != d.ACPID {
				t.Errorf("%s, %q, answer %.300q; ended %+v", d.State, d.Reason, d.Answer, s.ended)
			}
			if got := s.requests(); tt.asked != "*" && got != tt.asked {
				t.Errorf("asked %s, want %s", got, tt.asked)
			}
			if tt.more != nil {
				tt.more(t, s, d)
			}
		})
	}
}

// cancelOnce cancels the delegation once something is so.
func cancelOnce(is func(*stage, Delegation) bool) func(*stage, *Request) {
	return func(s *stage, _ *Request) {
		go func() {
			for s.t.Context().Err() == nil {
				if all, err := s.List(s.t.Context(), 1); err == nil && len(all) > 0 && is(s, all[0]) {
					_ = s.cancel(s.t.Context(), all[0].ID, "its caller cancelled it")
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
}

func prompted(s *stage, _ Delegation) bool { return strings.Contains(s.asked(), "session/prompt") }

func spoke(_ *stage, d Delegation) bool { return d.Last != "" }

// A follow-up goes on in the session and the folder of the first; what that showed again is no part of its answer.
func TestContinued(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  string
		state  State
		reason string
	}{
		"loaded": {"", Done, ""},
		"not":    {"-32002", Failed, "opening its session: told to fail (-32002)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			t.Setenv("ECHOAGENT_WRITE", "heron.txt")
			t.Setenv("ECHOAGENT_STEPS", "2")
			first := s.run(t.Context(), Request{Agent: "codex", Task: "Look.", Scope: "heron.txt", Kept: "the release", Mode: Edit})
			t.Setenv("ECHOAGENT_STEPS", "")
			t.Setenv("ECHOAGENT_LOAD_ERROR", tt.fault)
			s.requests()
			then := s.run(t.Context(), Request{Agent: "codex", Task: "Once more.", Scope: "heron.txt", Kept: "the release", Mode: Edit,
				Continues: first.ID})
			if then.State != tt.state || then.Reason != tt.reason || then.ACPID != first.ACPID || then.Folder != first.Folder ||
				strings.Contains(then.Answer, "Look.") || then.Usage.Turns != 1 {
				t.Errorf("%+v\nof %+v", then, first)
			}
			if got := s.requests(); !strings.HasPrefix(got, "initialize session/load") {
				t.Errorf("asked %s", got)
			}
			if tt.state != Done {
				return
			}
			if then.Tree != first.Tree || !strings.Contains(then.Answer, "> Once more.") || then.Branch == "" {
				t.Errorf("%+v", then)
			}
			s.takeChanges(t, then)
		})
	}
}

// takeChanges looks at the changes of a delegation, applies and discards them.
func (s *stage) takeChanges(t *testing.T, d Delegation) {
	t.Helper()
	service := &Service{Ledger: s.Ledger}
	tools := toolbox{service: func(context.Context) (*Service, error) { return service, nil },
		caller: func(memory.Session) Caller { return Caller{Person: true} }}
	ask := func(do answer) string {
		t.Helper()
		got, err := do(t.Context(), memory.Session{}, json.RawMessage(`{"id":"`+d.ID+`"}`))
		if err != nil {
			return err.Error()
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := ask(tools.named(call.diff)); !strings.Contains(got, `"applied":false`) || !strings.Contains(got, "+Once more.") ||
		!strings.Contains(got, "heron.txt | ") || strings.Contains(got, "left_out") {
		t.Errorf("its changes: %s", got)
	}
	if got := ask(tools.named(call.apply)); !strings.Contains(got, `"files":["heron.txt"]`) {
		t.Errorf("applied: %s", got)
	}
	if got := ask(tools.named(call.diff)); !strings.Contains(got, `"applied":true`) {
		t.Errorf("after that: %s", got)
	}
	if text, _ := os.ReadFile(filepath.Join(s.dir, "heron.txt")); !strings.Contains(string(text), "Once more.") {
		t.Errorf("the caller has %q", text)
	}
	d, err := s.Get(t.Context(), d.ID)
	if err != nil || d.Tree != "" || d.Folder == "" {
		t.Errorf("after it was applied: %+v, %v", d, err)
	}
	for range 2 {
		if err := service.Discard(t.Context(), d); err != nil {
			t.Error(err)
		}
		if d, err = s.Get(t.Context(), d.ID); err != nil || d.Folder+d.Branch != "" {
			t.Errorf("discarded: %+v, %v", d, err)
		}
	}
	if left, _ := os.ReadDir(s.folders); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if got := ask(tools.named(call.diff)); got != "it made no changes" {
		t.Errorf("at last: %s", got)
	}
	for wanted, d := range map[string]Delegation{"still running": {State: Running}, "continued in 01E": {State: Done, ContinuedBy: "01E"}} {
		if err := service.Diff(t.Context(), d, io.Discard); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v", wanted, err)
		}
		if stat, applied, err := service.Stat(t.Context(), d); stat != "" || applied || err != nil {
			t.Errorf("%s: %q, %v", wanted, stat, err)
		}
	}
	if err := service.Discard(t.Context(), Delegation{State: Running}); err == nil || !strings.Contains(err.Error(), "cancel it first") {
		t.Errorf("discarded while it runs: %v", err)
	}
}

// A runner that is told to end ends its child; one that comes second does nothing; what the dead have left is removed.
func TestRunner(t *testing.T) {
	s := newStage(t)
	t.Setenv("ECHOAGENT_HANG", "initialize")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for !strings.Contains(s.asked(), "initialize") && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	r := Request{Agent: "codex", Task: "Look.", Scope: "heron.txt", Kept: "the release"}
	d := s.run(ctx, r)
	if d.State != Cancelled || d.Reason != "its runner was ended" || !d.State.Ended() {
		t.Errorf("%+v", d)
	}
	if err := s.Run(t.Context(), d.ID, "Look."); err != nil || len(s.ended) != 1 {
		t.Errorf("again: %v, %d outcomes", err, len(s.ended))
	}
	t.Setenv("ECHOAGENT_HANG", "")
	for mode, stays := range map[Mode]bool{Read: false, Edit: true} { // changes may be in it
		request := want(2)
		request.Mode = mode
		lost := s.must(t, Caller{Cwd: s.dir}, request)
		lock, err := correlation.TakeLock(s.live, correlation.NewProcessID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Begin(t.Context(), lost.ID, lock.ID()); err != nil {
			t.Fatal(err)
		}
		root := filepath.Join(s.folders, lost.ID)
		f, err := worktree.Make(t.Context(), s.dir, root, worktree.Options{Edit: mode == Edit})
		if err != nil {
			t.Fatal(err)
		}
		f.Keep = true
		if _, err := f.Finish(t.Context(), "m"); err != nil { // its lock is free
			t.Fatal(err)
		}
		if err := s.saveProgress(t.Context(), Delegation{ID: lost.ID, Runner: lock.ID()}, Run{Folder: root}); err != nil {
			t.Fatal(err)
		}
		request.Task = "Look in vain."
		stuck := s.must(t, Caller{Cwd: s.dir}, request) // its folder cannot be removed; others' are
		if _, err := s.Begin(t.Context(), stuck.ID, lock.ID()); err != nil {
			t.Fatal(err)
		}
		if err := s.saveProgress(t.Context(), Delegation{ID: stuck.ID, Runner: lock.ID()}, Run{Folder: s.dir}); err != nil {
			t.Fatal(err)
		}
		_ = lock.Release()
		request.Task = "Go on."
		s.run(t.Context(), request)
		if _, err := os.Stat(root); (err == nil) != stays {
			t.Errorf("%s: what a dead runner has left: %v", mode, err)
		}
	}
}
