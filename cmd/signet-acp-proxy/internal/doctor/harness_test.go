package doctor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/lineage"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// agentVariable makes the test binary an agent: one that hangs, one that works for a while before it answers, one that
// works for ever, or one that has said what it has to say before anybody asks.
const agentVariable = "SIGNET_DOCTOR_AGENT"

func TestMain(m *testing.M) {
	const answer = `{"jsonrpc":"2.0","id":1,` +
		`"result":{"protocolVersion":1,"agentInfo":{"name":"late"}}}`
	switch os.Getenv(agentVariable) {
	case "hangs":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "works":
		work(func() bool { used, _ := lineage.CPU(os.Getpid()); return used < 200*time.Millisecond })
		fmt.Println(answer)
	case "works for ever":
		work(func() bool { return true })
	case "gone":
		os.Stdin.Close()
		fmt.Println("Welcome!")
	default:
		os.Exit(m.Run())
	}
}

// work uses the CPU on one thread.
func work(on func() bool) {
	runtime.LockOSThread()
	for on() {
	}
}

// A harness that is at work is slow, and one that does nothing is wrong.
func TestTimeouts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is not known here what a process does")
	}
	const never = time.Hour
	for _, tt := range []struct {
		agent string
		limit timeouts
		want  error
	}{
		{"works", timeouts{silent: 1, working: never, quiet: time.Minute, look: time.Millisecond}, nil},
		{"hangs", timeouts{silent: 1, working: never, quiet: 1, look: time.Millisecond}, errHangs},
		{"works for ever", timeouts{silent: 1, working: 1, quiet: never, look: time.Millisecond}, errAtWork},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			t.Parallel()
			agent, err := initialize(t.Context(), acting(tt.agent), tt.limit)
			if !errors.Is(err, tt.want) || tt.want == nil && agent.Info.Name != "late" {
				t.Errorf("it is called %q, and %v; want %v", agent.Info.Name, err, tt.want)
			}
		})
	}
}

// A harness that hangs is a problem, with the time that it was given; one that is slow is worth a word.
func TestUnanswered(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is not known here what a process does")
	}
	const never = time.Hour
	for _, tt := range []struct {
		agent string
		limit timeouts
		want  finding // its text is the beginning of it
	}{
		{"hangs", timeouts{silent: 20 * time.Millisecond, working: never, quiet: 1, look: time.Millisecond, slow: never},
			finding{"", statusProblem, "mine: " + os.Args[0] + " does not answer initialize within 20ms: ", byHand}},
		{"works", timeouts{silent: never, working: never, look: time.Millisecond, slow: 1},
			finding{"", statusNote, "mine speaks ACP after ", "check the machine's load; some clients wait no " +
				"longer than 15 s"}},
		{"works", timeouts{silent: never, working: never, look: time.Millisecond, slow: never},
			finding{"", statusFine, "mine speaks ACP after ", ""}},
	} {
		t.Run(tt.agent+", "+tt.want.Status, func(t *testing.T) {
			t.Setenv(agentVariable, tt.agent)
			e := examination{c: &config.Config{}, timeouts: tt.limit}
			got := e.ask(t.Context(), harness{name: "mine", command: []string{os.Args[0]}})[0]
			text := got.Text
			if !strings.HasPrefix(text, tt.want.Text) {
				t.Errorf("it says %q, want %q", text, tt.want.Text)
			}
			if slow := strings.Contains(text, "starts slowly"); slow != (tt.want.Status == statusNote) {
				t.Errorf("it says %q", text)
			}
			if got.Text = tt.want.Text; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if defaultTimeouts.silent != 30*time.Second || defaultTimeouts.slow != 5*time.Second {
		t.Errorf("people wait for %v, and hear of it after %v", defaultTimeouts.silent, defaultTimeouts.slow)
	}
}

// What a program said that reads nothing is told, not that it reads nothing.
func TestGreetingUnread(t *testing.T) {
	p, err := upstream.Start(acting("gone"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil { // until it is gone
		_, err = p.Stdin.Write([]byte("\n"))
	}
	_, err = greet(t.Context(), p)
	p.Wait()
	if err == nil || err.Error() != `it says "Welcome!"` {
		t.Errorf("got %v", err)
	}
}

func acting(agent string) upstream.Options {
	return upstream.Options{Command: []string{os.Args[0]}, Env: append(os.Environ(), agentVariable+"="+agent)}
}

// A harness is started once, by whatever names a client's file, the configuration and PATH have it.
func TestEachHarnessOnce(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("PATH", elsewhere)
	real, link := filepath.Join(home, "dist", "claude-agent-acp"), filepath.Join(elsewhere, "claude-agent-acp")
	gemini, qwen := filepath.Join(elsewhere, "gemini"), filepath.Join(elsewhere, "qwen")
	shim := filepath.Join(home, "dist", "shim") // which starts what it is called by
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), mode))
		if err != nil {
			t.Fatal(err)
		}
	}
	write(real, "", 0o700)
	write(shim, "", 0o700)
	for name, target := range map[string]string{link: real, gemini: shim, qwen: shim} {
		if err := os.Symlink(target, name); err != nil {
			t.Skip(err)
		}
	}
	write(filepath.Join(home, ".acpx", "config.json"), fmt.Sprintf(`{"agents": {
		"a": {"command": "signet-acp-proxy", "args": ["--agent", "claude", "--", %q]},
		"b": {"command": "signet-acp-proxy", "args": ["--", %q]},
		"c": {"command": "signet-acp-proxy", "args": ["--", %q, "--acp"]},
		"d": {"command": "signet-acp-proxy", "args": ["--agent", "claude"]}}}`, link, real, gemini), 0o600)
	c, err := config.Load(config.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	c.Agents = map[string]config.AgentConfig{"mine": {Command: []string{link}}}
	e := examination{c: c}
	var found []string
	for _, h := range e.inUse([]string{"claude"}) {
		found = append(found, h.title())
	}
	if want := []string{"claude", "gemini", "qwen"}; !slices.Equal(found, want) {
		t.Errorf("it would start %q, want %q", found, want)
	}
}

// A command line of one's own is what is started, whatever it is called; a name alone is the agent's own command.
func TestDistinct(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	e := examination{c: &config.Config{}}
	var found []string
	for _, h := range e.distinct([]harness{
		{"claude", []string{"wrapper", "claude"}}, {"gemini", []string{"gemini", "--acp"}}, {"nobody", nil}, {"", []string{"own"}},
		{"mine", []string{"own"}}, {"other", []string{"own"}}, {"gemini", nil},
	}) {
		found = append(found, h.name+":"+strings.Join(h.command, " "))
	}
	if want := []string{"claude:wrapper claude", "gemini:", "mine:own"}; !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// A process that computes is seen to run, also before it has used much.
func TestRunning(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is not known here what a process does")
	}
	p, err := upstream.Start(acting("works for ever"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Wait()
	defer p.Terminate(syscall.SIGKILL)
	for deadline := time.Now().Add(time.Minute); ; {
		if _, running := lineage.CPU(p.Pid()); running {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not run")
		}
	}
}
