package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// reaching is a shell's command that reaches a session's tools, or says why not.
func reaching(address string) string {
	return fmt.Sprintf(`echo '{"jsonrpc":"2.0","id":9,"method":"ping"}' | %s mcp --connect %s 2>&1`, proxyBin, address)
}

const reached = `{"jsonrpc":"2.0","id":9,"result":{}}`

// Who may use a session's tools is decided by who connects: each try is a real process.
func TestWhoMayUseTools(t *testing.T) {
	t.Parallel()
	const others, confined = "these memory tools belong to another session", "a program with no_new_privs"
	b := delegating(t, nil)
	b.set("SIGNET_ACP_DELEGATION=on")
	caller := b.openTools("scripted")
	address := caller.entries[0].Args[2]
	agent := func(command ...string) string { // runs a command as an agent of another session does
		call, err := json.Marshal(command)
		must(b, err)
		b.agents(map[string][]string{"egret": {"ECHOAGENT_CALL=" + string(call)}})
		_, said := b.turnWith("egret", "", "Call.")
		return strings.ReplaceAll(said, `\"`, `"`)
	}
	shell := func(words ...string) []string { return append(words, "sh", "-c", reaching(address)+" || true") }
	tries := []struct {
		name string
		said func() string
		want string
	}{
		{"a stranger with the token", func() string { return b.try(shell()...).Stdout }, reached},
		{"the next one", func() string { return b.try(shell()...).Stdout }, reached},
		{"a confined stranger", func() string { return b.try(shell("setpriv", "--no-new-privs")...).Stdout }, confined},
		{"another session's agent", func() string { return agent(shell()...) }, others},
		{"a confined one of another session", func() string { return agent(shell("setpriv", "--no-new-privs")...) }, others},
		{"a child in its bounds", func() string {
			agent(shell()...) // names the command
			return b.run(ask("egret", "Look.")...)
		}, "no memory tools"},
		{"a child's fork that got away", func() string {
			away := `setsid -f sh -c "$1" > "$HOME/said"; while ! [ -s "$HOME/said" ]; do sleep 0.02; done; cat "$HOME/said"`
			agent("sh", "-c", away, "sh", reaching(address))
			return b.run(ask("egret", "Look again.")...)
		}, "no memory tools"},
		{"a command of a delegation's setup", func() string {
			b.write(filepath.Join(b.Work, "reach.sh"), "{ "+reaching(address)+"; } >&2; exit 1", 0o600)
			b.set("SIGNET_ACP_DELEGATION_SETUP=sh reach.sh")
			return b.try(ask("egret", "Look a third time.")...).Stderr
		}, "no memory tools"},
	}
	for _, try := range tries {
		if said := try.said(); !strings.Contains(said, try.want) {
			t.Errorf("%s: %s", try.name, said)
		}
	}
	if said := b.try(proxyBin, "doctor").Stdout; strings.Count(said, confined) != 1 {
		t.Errorf("doctor names the confined one not once:\n%s", said)
	}

	// the token is bound to a connection, and good again when that has closed
	first := exec.Command(proxyBin, caller.entries[0].Args...)
	in, err := first.StdinPipe()
	must(b, err)
	out, err := first.StdoutPipe()
	must(b, err)
	must(b, first.Start())
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != reached {
		t.Fatalf("the first: %s, %v", line, err)
	}
	if said := b.try(shell()...).Stdout; !strings.Contains(said, "another program uses") {
		t.Errorf("a second one at once: %s", said)
	}
	must(b, in.Close())
	must(b, first.Wait())
	if said := b.try(shell()...).Stdout; !strings.Contains(said, reached) {
		t.Errorf("after the first: %s", said)
	}

	token, err := os.ReadFile(address)
	must(b, err)
	must(b, os.WriteFile(address, []byte(strings.ToLower(string(token))), 0o600))
	if said := b.try(shell()...).Stdout; !strings.Contains(said, "the session's token is missing or wrong") {
		t.Errorf("a stranger without the token: %s", said)
	}
	caller.end()
}

// While a page is open and a delegation runs, nothing that opens anything stands among the arguments or in the
// environment of any process, those of the browser and of the memory tools among them.
func TestNothingOpensAnything(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"stubborn": {"ECHOAGENT_HANG=session/prompt"}})
	b.set("SIGNET_ACP_DELEGATION=on")
	caller := b.openTools("scripted")
	tools := exec.Command(proxyBin, caller.entries[0].Args...)
	tools.Env = append(b.Env, "LANG=C")
	in, err := tools.StdinPipe()
	must(b, err)
	must(b, tools.Start())
	b.run(ask("stubborn", "--detach", "Wait.")...)

	browser := filepath.Join(b.Dir, "browser")
	b.write(filepath.Join(browser, "xdg-open"), "#!/bin/sh\nexec sleep 305\n", 0o755)
	b.set("DISPLAY=:0", "PATH="+browser+":"+os.Getenv("PATH"))
	page, _, key := b.openPage()

	keys := []string{strings.Split(key, "/")[3]}
	tokens, err := filepath.Glob(filepath.Join(b.Dir, "*", "signet-acp-*", "[0-9]*"))
	must(b, err)
	for _, file := range tokens {
		token, err := os.ReadFile(file)
		must(b, err)
		keys = append(keys, string(token))
	}
	if len(keys) < 2 {
		t.Fatalf("the caller's token is not among %v", tokens)
	}
	var all []sandbox.Process
	b.wait("all that is to run", func() bool {
		all, err = b.Processes()
		must(b, err)
		commands := fmt.Sprint(all)
		for _, word := range []string{"mcp --connect", "delegate --run", "-name stubborn", "view --live", "sleep 305"} {
			if !strings.Contains(commands, word) {
				return false
			}
		}
		return true
	})
	door := filepath.Join(b.Signet, "acp", "view-live.html")
	if info, err := os.Stat(door); err != nil || info.Mode().Perm() != 0o600 ||
		!strings.Contains(b.run("cat", door), key) {
		t.Errorf("the page that leads a browser to it: %v, %v", info, err)
	}
	exposed, err := b.Exposed(keys...)
	must(b, err)
	if len(exposed) > 0 {
		t.Errorf("all can read that\n%s", strings.Join(exposed, "\n"))
	}
	must(b, page.Process.Signal(os.Interrupt))
	must(b, page.Wait())
	if _, err := os.Stat(door); !os.IsNotExist(err) {
		t.Errorf("the page that led a browser to it is left: %v", err)
	}
	must(b, in.Close())
	must(b, tools.Wait())
	b.run(proxyBin, "delegations", "cancel", b.delegations()[0].ID)
	for _, p := range all {
		if strings.HasPrefix(p.Command, "sleep 305") {
			browser, err := os.FindProcess(p.ID)
			must(b, err)
			must(b, browser.Kill())
		}
	}
	caller.end()
}
