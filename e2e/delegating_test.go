package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A delegated is a row of delegations --json.
type delegated struct {
	ID, Agent, State, Mode, Kind, Task, Session, Parent, Stop, Reason, Branch, Folder, Answer, Next, Continues, Tree string
	Depth                                                                                                            int
	Scope, Kept, Paths, Refused                                                                                      []string
	Ended                                                                                                            *time.Time
	Usage                                                                                                            struct{ Turns int }
}

// delegating is a box in which agents may ask one another, each by a name and with variables for echoagent.
func delegating(t *testing.T, agents map[string][]string) *box {
	t.Helper()
	b := newBox(t)
	b.noteRequests()
	b.agents(agents)
	must(b, os.RemoveAll(filepath.Join(b.Work, ".git")))
	must(b, os.WriteFile(filepath.Join(b.Work, "heron.txt"), []byte("grey\n"), 0o600))
	b.run("git", "init", "-q")
	b.run("git", "add", "-A")
	b.run("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "one")
	return b
}

// noteRequests writes what agents in bounds say of their requests into the log of those that are not.
func (b *box) noteRequests() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	f, err := os.OpenFile(filepath.Join(b.Echo, "requests.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(b, err)
	b.requestLog = l.Addr().String()
	done := make(chan struct{})
	b.t.Cleanup(func() { l.Close(); <-done; f.Close() })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
				_, _ = f.WriteString(line)
				if strings.Contains(line, `"session/prompt"`) {
					b.held.Wait()
				}
			}
			conn.Close()
		}
	}()
}

// holdPrompts keeps agents in bounds at their prompts, which are noted, until they are let go.
func (b *box) holdPrompts() (letGo func()) {
	b.held.Add(1)
	letGo = sync.OnceFunc(b.held.Done)
	b.t.Cleanup(letGo)
	return letGo
}

// agents writes the configuration with these agents.
func (b *box) agents(agents map[string][]string) {
	b.t.Helper()
	kept := []string{"ECHOAGENT_LOG=" + b.requestLog, "SIGNET_E2E=" + b.Dir, "GORACE=atexit_sleep_ms=0"}
	var config strings.Builder
	config.WriteString("acp:\n  delegation: on\n  memory: embedded\n")
	if runtime.GOOS != "linux" { // where nothing would keep echoagent to its folder
		config.WriteString("  delegation_unbounded: true\n")
	}
	config.WriteString("  agents:\n")
	for name, variables := range agents {
		command, err := json.Marshal(slices.Concat([]string{"env"}, kept, variables, []string{echoBin, "-name", name}))
		must(b, err)
		fmt.Fprintf(&config, "    %s:\n      command: %s\n", name, command)
	}
	must(b, os.WriteFile(filepath.Join(b.Signet, "agent.yaml"), []byte(config.String()), 0o600))
}

func (b *box) delegations() []delegated {
	b.t.Helper()
	var all []delegated
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "delegations", "--json")), &all))
	return all
}

// ask is a delegate command that asks an agent for something.
func ask(agent string, more ...string) []string {
	return slices.Concat([]string{proxyBin, "delegate", "--to", agent, "--scope", "heron.txt", "--keep",
		"the release"}, more)
}

// orphans waits until nothing of a delegation runs.
func (b *box) orphans() {
	b.t.Helper()
	b.wait("the end of all that a delegation runs", func() bool {
		all, err := b.Processes()
		must(b, err)
		return !slices.ContainsFunc(all, func(p sandbox.Process) bool {
			return slices.ContainsFunc([]string{"echoagent", "--run", "--agent", "sleep 305"}, func(word string) bool {
				return strings.Contains(p.Command, word)
			})
		})
	})
}
