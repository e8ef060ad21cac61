package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An acpxBox is a sandbox with one version of acpx, in front of the proxy, in front of echoagent.
type acpxBox struct {
	*box
	acpx     []string
	opencode []string // its command, where it is the harness
}

// Both versions are in use: 0.7.0 is the one that Signet pins.
var acpxVersions = map[string]string{"0.19.1": "acpx/dist/cli.js", "0.7.0": "acpx-0-7/dist/cli.js"}

func eachAcpx(t *testing.T, test func(t *testing.T, a *acpxBox)) {
	for version, script := range acpxVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, newAcpx(t, script))
		})
	}
}

func newAcpx(t *testing.T, script string, flags ...string) *acpxBox {
	t.Helper()
	a := &acpxBox{box: newBox(t)}
	a.set("NODE_COMPILE_CACHE=" + nodeCache)
	var err error
	if a.acpx, err = modules.Script(script); err != nil {
		t.Fatal(err)
	}
	a.register("echo", append([]string{echoBin}, flags...)...)
	return a
}

func (a *acpxBox) register(name string, harness ...string) {
	a.t.Helper()
	command := append([]string{proxyBin, "--agent", name, "--"}, harness...)
	if err := a.Register("signet-"+name, command...); err != nil {
		a.t.Fatal(err)
	}
}

// say runs acpx signet-echo with words and returns what it printed.
func (a *acpxBox) say(words ...string) string {
	a.t.Helper()
	return a.run(a.command(ownerLives, words...)...)
}

// ownerLives is how long acpx's process stays after a prompt, in seconds: until the test ends it.
const ownerLives = 600

func (a *acpxBox) command(ttl int, words ...string) []string {
	flags := []string{"--format", "quiet", "--ttl", strconv.Itoa(ttl), "signet-echo"}
	return append(append(append([]string{}, a.acpx...), flags...), words...)
}

// newSession opens a session and returns its id, which is acpx's record id.
func (a *acpxBox) newSession() string {
	a.t.Helper()
	return strings.TrimSpace(a.say("sessions", "new"))
}

// injected are the sessions that have had context, and how that ended.
func (a *acpxBox) injected() [][]string {
	a.t.Helper()
	return a.query(`SELECT s.acp_id, i.kind, i.outcome FROM injections i JOIN sessions s ON s.id = i.session
		ORDER BY i.id`)
}

// once checks that a session had its context once, under a record, and that nothing of it is in acpx's files.
func (a *acpxBox) once(id, record string) {
	a.t.Helper()
	if n := a.received(id).contexts(); n != 1 {
		a.t.Errorf("the harness was given %d contexts in %s, want 1", n, id)
	}
	if diff := cmp.Diff([][]string{{id, "context", "kept"}}, a.injected()); diff != "" {
		a.t.Errorf("ledger (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{record}}, a.query(`SELECT record FROM sessions WHERE acp_id = ?`, id)); diff != "" {
		a.t.Errorf("record (-want +got):\n%s", diff)
	}
	a.cleanHistory()
}

func (a *acpxBox) cleanHistory() {
	a.t.Helper()
	err := filepath.WalkDir(filepath.Join(a.Home, ".acpx"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "signet-memory") {
			a.t.Errorf("%s holds our block:\n%s", filepath.Base(path), text)
		}
		return err
	})
	if err != nil {
		a.t.Error(err)
	}
}

// endOwners ends the processes that keep agents between two prompts, as their time to live does, and waits until they
// and their agents have gone.
func (a *acpxBox) endOwners() {
	a.t.Helper()
	owners, err := a.Owners()
	if err != nil || len(owners) == 0 {
		a.t.Fatalf("queue owners: %v (%v)", owners, err)
	}
	for _, pid := range owners {
		owner, err := os.FindProcess(pid)
		must(a.box, err)
		must(a.box, owner.Signal(syscall.SIGTERM))
	}
	a.alone()
}

// lateOwner keeps a queue owner from starting until the acpx that started it has given up.
const lateOwner = `if (process.argv.includes("__queue-owner"))
	for (const parent = process.ppid; process.ppid === parent;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
`

// On a crowded machine acpx gives up before its owner is there. Asked again it says what it was to say, once.
func TestAcpxOwnerIsLate(t *testing.T) {
	t.Parallel()
	eachAcpx(t, func(t *testing.T, a *acpxBox) {
		late := filepath.Join(a.Dir, "late.cjs")
		must(a.box, os.WriteFile(late, []byte(lateOwner), 0o600))
		a.set("ECHOAGENT_TERSE=1", "NODE_OPTIONS=--require "+late)
		id := a.newSession()
		a.say("The keel of the Curlew weighs 1,730 kg.")
		a.endOwners()
		if prompts := a.requests("session/prompt"); len(prompts) != 1 {
			t.Errorf("prompts: %v, want one", prompts)
		}
		a.once(id, id)
	})
}

// The first exec is told who it is, and the next one what was said in it; what the harness asks reaches acpx, and the
// answer the harness.
func TestAcpxExec(t *testing.T) {
	t.Parallel()
	eachAcpx(t, func(t *testing.T, a *acpxBox) {
		a.set("ECHOAGENT_ASK=1")
		exec := func(words, first string) {
			t.Helper()
			reply := a.run(append(slices.Clone(a.acpx), "--approve-all", "signet-echo", "exec", words)...)
			for _, want := range []string{"[1] text\n> <signet-memory ", first, "[2] text\n> " + words, "Write a file"} {
				if !strings.Contains(reply, want) {
					t.Errorf("no %q in the reply:\n%s", want, reply)
				}
			}
			a.alone()
		}
		const fact = "The mast of the Curlew is 11.42 metres long."
		exec(fact, "You are Halyard")
		a.takeIn()
		id := a.requests("session/prompt")[0].Session
		if diff := cmp.Diff([][]string{{id, "context", "kept"}}, a.injected()); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([][]string{{fact, "end_turn"}}, a.query(`SELECT user, stop FROM turns`)); diff != "" {
			t.Errorf("turns (-want +got):\n%s", diff)
		}
		exec("How long is the mast of the Curlew?", "11.42")
	})
}

// The session is opened in one process and prompted in another. For set-mode acpx 0.7.0 starts a second agent on it,
// while the first one lives.
func TestAcpxSession(t *testing.T) {
	t.Parallel()
	eachAcpx(t, func(t *testing.T, a *acpxBox) {
		a.set("ECHOAGENT_TERSE=1")
		id := a.newSession()
		a.say("first words")
		a.say("set-mode", "code")
		a.say("second words")
		opened, prompted := a.requests("session/new")[0].Pid, a.requests("session/prompt")
		if len(prompted) != 2 || prompted[0].Pid == opened || prompted[1].Pid != prompted[0].Pid {
			t.Errorf("opened by %d, prompted by %v: want two processes", opened, prompted)
		}
		turns := a.received(id).Turns
		if len(turns) != 2 || len(turns[0].Blocks) != 2 || len(turns[1].Blocks) != 1 {
			t.Fatalf("the harness was given %+v", turns)
		}
		if modes := a.requests("session/set_mode"); len(modes) == 0 {
			t.Error("session/set_mode did not arrive")
		}
		a.endOwners()
		a.takeIn()
		a.once(id, id)
		want := [][]string{{"first words", "end_turn"}, {"second words", "end_turn"}}
		if diff := cmp.Diff(want, a.query(`SELECT user, stop FROM turns ORDER BY id`)); diff != "" {
			t.Errorf("turns (-want +got):\n%s", diff)
		}
	})
}
