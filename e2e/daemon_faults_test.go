package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// daemonVariable makes the test binary a stand-in daemon of that version, for a folder behind a colon: one that can
// be stopped as processes are.
const daemonVariable = "E2E_DAEMON"

// playDaemon serves until stdin ends, then prints what it got.
func playDaemon(spec string) int {
	version, dir, _ := strings.Cut(spec, ":")
	for _, g := range daemontest.All {
		if g.Version() != version {
			continue
		}
		d, err := daemontest.Listen(daemontest.Options{Generation: g, AgentsDir: dir})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(d.URL())
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = json.NewEncoder(os.Stdout).Encode(d.Ends())
		d.Close()
		return 0
	}
	return 2
}

// A stoppable is such a daemon.
type stoppable struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

func (b *box) withStoppable(g daemontest.Generation) *stoppable {
	b.t.Helper()
	s := &stoppable{cmd: exec.Command(self)}
	s.cmd.Env = append(os.Environ(), daemonVariable+"="+g.Version()+":"+b.Signet)
	in, err := s.cmd.StdinPipe()
	must(b, err)
	out, err := s.cmd.StdoutPipe()
	must(b, err)
	s.in, s.out = in, bufio.NewReader(out)
	must(b, s.cmd.Start())
	b.t.Cleanup(func() {
		_ = s.cmd.Process.Signal(goOn)
		s.in.Close()
		_ = s.cmd.Wait()
	})
	url, err := s.out.ReadString('\n')
	must(b, err)
	b.set("SIGNET_DAEMON_URL=" + strings.TrimSpace(url))
	return s
}

// ends ends it, and gives what it got.
func (s *stoppable) ends() (all []daemontest.End, err error) {
	s.in.Close()
	err = json.NewDecoder(s.out).Decode(&all)
	return all, err
}

// What a daemon does wrong, on both versions that were run: no prompt waits longer than its hold, and what was said
// is delivered, once, when it is well again. All other waits are longer than the test's own, so that an answer shows
// which of them has ended. With -v -parallel 1 this prints the table in docs/daemon.md.
func TestDaemonFaults(t *testing.T) {
	t.Parallel()
	whole := func(kind daemontest.FaultKind, code int) func(*daemontest.Daemon) {
		return func(d *daemontest.Daemon) { d.Fail(daemontest.Fault{Kind: kind, Code: code}) }
	}
	for _, tt := range []struct {
		name    string
		first   func(*daemontest.Daemon) // before the session
		between func(*daemontest.Daemon) // before the second prompt
		stops   bool                     // SIGSTOP before the second prompt
		hangs   bool                     // until the hold of the first prompt has passed
	}{
		{name: "well"},
		{name: "black hole", first: whole(daemontest.BlackHole, 0), hangs: true},
		{name: "500", first: whole(daemontest.Status, 500)},
		{name: "401", first: whole(daemontest.Status, 401)},
		{name: "garbage", first: whole(daemontest.Garbage, 0)},
		{name: "SIGSTOP in the middle", stops: true},
		{name: "black hole in the middle", between: whole(daemontest.BlackHole, 0)},
		{name: "restart between prompts", between: func(d *daemontest.Daemon) { d.Stop(); _ = d.Resume() }},
	} {
		for _, g := range daemontest.Recorded {
			t.Run(tt.name+" "+g.Version(), func(t *testing.T) {
				t.Parallel()
				b := newBox(t)
				b.set("ECHOAGENT_TERSE=1", "SIGNET_ACP_PER_PROMPT=true", "SIGNET_ACP_FETCH=1h", "SIGNET_ACP_HOLD=1h")
				if tt.hangs { // as they are by themselves
					b.set("SIGNET_ACP_HOLD=1.5s", "SIGNET_ACP_DATABASE_WAIT=100ms")
				}
				var d *daemontest.Daemon
				var child *stoppable
				if tt.stops {
					child = b.withStoppable(g)
				} else {
					d = b.withDaemon(g)
					d.Remember("The mast of the Curlew is 11.42 metres long", "fact")
				}
				if tt.first != nil {
					tt.first(d)
				}
				c, session := b.dialSession([]string{"--memory", "daemon"}, echoBin)
				var took []time.Duration
				for i := range 3 {
					if i == 1 && tt.between != nil {
						tt.between(d)
					}
					if i == 1 && tt.stops {
						must(b, child.cmd.Process.Signal(stopProcess))
					}
					began := time.Now()
					must(b, c.prompt(session, fmt.Sprintf("Question %d. %s", i, words)))
					took = append(took, time.Since(began).Round(time.Millisecond))
				}
				c.hangUp()
				if tt.stops {
					must(b, child.cmd.Process.Signal(goOn))
				} else {
					d.Heal()
				}
				b.wait("the delivery", func() bool {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					cmd := exec.CommandContext(ctx, proxyBin, "deliver", "--wait", "--memory", "daemon")
					cmd.Env, cmd.Dir = b.Env, b.Work
					_ = cmd.Run()
					return len(b.query(`SELECT 1 FROM deliveries WHERE kind = 'daemon' AND state = 'delivered'`)) == 1
				})
				var ends []daemontest.End
				if tt.stops {
					var err error
					ends, err = child.ends()
					must(b, err)
				} else {
					ends = d.Ends()
				}
				queued := 0
				for _, e := range ends {
					if e.Outcome != daemontest.Queued {
						continue
					}
					queued++
					for i := range 3 {
						if n := strings.Count(e.Kept, fmt.Sprintf("User: Question %d. ", i)); n != 1 ||
							strings.Count(e.Kept, "Assistant: ") != 3 {
							t.Errorf("question %d stands there %d times:\n%.300s", i, n, e.Kept)
						}
					}
				}
				if queued != 1 {
					t.Errorf("taken %d times: %+v", queued, ends)
				}
				var told []string
				for _, row := range b.query(`SELECT kind, source FROM injections ORDER BY id`) {
					told = append(told, strings.Join(row, " from "))
				}
				t.Logf("| %s | %s | %v | %s | once |", tt.name, g.Version(), took, strings.Join(told, ", "))
			})
		}
	}
}

// A daemon that hangs is paid for once: of four processes that end one after another, each as soon as it is answered,
// the first alone asks it.
func TestHangIsPaidOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("ECHOAGENT_TERSE=1", "SIGNET_ACP_HOLD=1500ms", "SIGNET_ACP_DATABASE_WAIT=100ms")
	d := b.withDaemon(daemontest.Middle)
	d.Fail(daemontest.Fault{Kind: daemontest.BlackHole})
	for range 4 {
		c, session := b.dialSession([]string{"--memory", "daemon"}, echoBin)
		must(b, c.prompt(session, "A question. "+words))
		c.hangUp()
	}
	d.Heal()
	if n := len(d.Requests("/api/hooks/session-start")); n != 1 {
		t.Errorf("its hooks were called %d times", n)
	}
}

// A message that the daemon keeps in its inbox for good is told to one session.
func TestInboxIsToldOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("ECHOAGENT_TERSE=1")
	d := b.withDaemon(daemontest.Middle)
	d.Send("beta", "The mast is 11.42 metres.")
	for range 2 {
		c, session := b.dialSession([]string{"--memory", "daemon"}, echoBin)
		must(b, c.prompt(session, "A question. "+words))
		c.hangUp()
		b.run(proxyBin, "sessions", "--json") // takes in what was said
	}
	told := b.query(`SELECT count(*), count(DISTINCT session), sum(text LIKE '%11.42 metres%') FROM injections`)
	if diff := cmp.Diff([][]string{{"2", "2", "1"}}, told); diff != "" {
		t.Errorf("blocks, sessions, blocks with the message (-want +got):\n%s", diff)
	}
}
