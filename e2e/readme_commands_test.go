package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A reader is at a machine that has this program, acpx and a few agents, all of them the echo agent.
type reader struct {
	*box
	bin string // what is on the PATH before anything else
}

// The agents on a reader's machine, and what they call themselves.
var installedAgents = map[string]string{
	"claude-agent-acp": "@agentclientprotocol/claude-agent-acp", "codex-acp": "@agentclientprotocol/codex-acp",
	"gemini": "gemini-cli", "my-agent": "my-agent",
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{box: newBox(t)}
	r.bin = filepath.Join(r.Dir, "bin")
	must(r.box, os.Mkdir(r.bin, 0o700))
	must(r.box, os.Symlink(proxyBin, filepath.Join(r.bin, "signet-acp-proxy")))
	acpx, err := modules.Script(acpxVersions["0.19.1"])
	must(r.box, err)
	r.script("acpx", fmt.Sprintf("exec %q %q \"$@\"", acpx[0], acpx[1]))
	for name, agent := range installedAgents {
		r.script(name, fmt.Sprintf("exec %q -name %s", echoBin, agent))
	}
	// Of the machine's own programs only a few are there: with others it would depend on them what is found.
	for _, name := range []string{"sh", "bash", "zsh", "fish", "env", "cat", "git", "mkdir", "sed", "rm"} {
		if path, err := exec.LookPath(name); err == nil {
			must(r.box, os.Symlink(path, filepath.Join(r.bin, name)))
		}
	}
	r.set("PATH=" + r.bin)
	return r
}

func (r *reader) script(name, line string) {
	r.t.Helper()
	must(r.box, os.WriteFile(filepath.Join(r.bin, name), []byte("#!/bin/sh\n"+line+"\n"), 0o700))
}

// shell runs a line and returns all that it prints.
func (r *reader) shell(line string) string {
	r.t.Helper()
	out := r.try(filepath.Join(r.bin, "sh"), "-c", line)
	if out.Code != 0 {
		r.t.Errorf("%s: exit %d\n%s%s", line, out.Code, out.Stdout, out.Stderr)
	}
	return out.Stdout + out.Stderr
}

var placeholder = regexp.MustCompile(`\b(SESSION|ID|NAME|TEXT|WORDS|FILE|LINE|WHO)\b`)

// fill puts what is there in the places of what a reader has to fill in.
func (r *reader) fill(line string) string {
	return placeholder.ReplaceAllStringFunc(line, func(word string) string {
		var rows []struct{ ID, AcpxSessionID string }
		switch word {
		case "WHO":
			return "typed"
		case "SESSION":
			must(r.box, json.Unmarshal([]byte(r.run(proxyBin, "sessions", "--json")), &rows))
			return rows[0].AcpxSessionID
		case "ID":
			must(r.box, json.Unmarshal([]byte(r.run(proxyBin, "memory", "list", "--json")), &rows))
			return rows[0].ID
		}
		return map[string]string{"NAME": "gemini", "TEXT": "'How long is the mast of the Curlew?'", "WORDS": "mast",
			"FILE": "copy.db", "LINE": "'The keel of the Curlew is lead.'"}[word]
	})
}

// Every command of README.md and docs does what it is there for.
func TestPageCommands(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range pages(t) {
		var commands []typed
		for _, c := range p.commands {
			if !known(c.line) {
				t.Errorf("%s: nobody knows how to run %q: add it to executions, or to notRun with the reason",
					c.where, c.line)
			} else if !seen[c.line] || notRun[c.line] == "" && !strings.HasPrefix(c.line, "make ") {
				commands = append(commands, c) // the others are the same on every page
			}
			seen[c.line] = true
		}
		if len(commands) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t)
			r.converseTwice()
			// a memory, beside what was said
			r.shell("signet-acp-proxy memory add 'The mast of the Curlew is of spruce.'")
			done := map[string]bool{}
			for _, c := range commands {
				if !done[c.line] || c.shows != "" {
					done[c.line] = true
					r.command(c)
				}
			}
		})
	}
	for _, line := range slices.Concat(slices.Collect(maps.Keys(executions)), slices.Collect(maps.Keys(notRun))) {
		if !seen[line] {
			t.Errorf("%q stands in no page any more", line)
		}
	}
}

func (r *reader) command(c typed) {
	r.t.Helper()
	if why := notRun[c.line]; why != "" {
		if err := r.check(c.line); err != nil {
			r.t.Errorf("%s: %s: %v", c.where, c.line, err)
		}
		return
	}
	p := executions[c.line]
	if p.before != "" {
		r.shell(p.before)
	}
	line, then := r.fill(c.line), ""
	if p.then != "" {
		then = r.fill(p.then)
	}
	if c.shows != "" { // what it prints, and not what it tells people beside that
		if got := r.run(filepath.Join(r.bin, "sh"), "-c", line); !same(c.shows, got) {
			r.t.Errorf("%s: %s prints\n%s\nand the page has\n%s", c.where, line, got, c.shows)
		}
		return
	}
	by := p.by
	if by == nil {
		by = (*reader).shell
	}
	got := by(r, line)
	if then != "" {
		got += r.shell(then)
	}
	if p.want == "" || !regexp.MustCompile(p.want).MatchString(got) {
		r.t.Errorf("%s: %s: no %q in\n%s", c.where, line, p.want, got)
	}
}

// converse has a conversation of one prompt with the agent that a line starts, and returns what that was given.
func (r *reader) converse(line string) string {
	r.t.Helper()
	c, err := r.start(r.t, nil, filepath.Join(r.bin, "sh"), "-c", "exec "+line)
	must(r.box, err)
	must(r.box, c.greet())
	session := c.talk("The mast of the Curlew is 11.42 metres long.")
	c.end()
	var given strings.Builder
	for _, block := range r.received(session).Turns[0].Blocks {
		given.WriteString(block.Text + "\n")
	}
	return given.String()
}

// converseTwice has two conversations, and returns what the agent was given in the second one, which knows of the first.
func (r *reader) converseTwice() string {
	r.t.Helper()
	r.converse("signet-acp-proxy --agent gemini")
	r.shell("signet-acp-proxy memory list") // what was said is made memories of by now
	return r.converse("signet-acp-proxy --agent gemini")
}

// tools lists the memory tools that an MCP server has.
func (r *reader) tools(line string) string {
	r.t.Helper()
	session := r.speak(&mcp.CommandTransport{Command: r.Command(r.t.Context(), nil, filepath.Join(r.bin, "sh"), "-c",
		"exec "+line)})
	defer session.Close()
	list, err := session.ListTools(r.t.Context(), nil)
	must(r.box, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, "\n")
}

// inCheckout runs a line in the checkout, with the machine's own programs and Go's caches, and everything else of the
// reader's.
func (r *reader) inCheckout(line string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = ".."
	cmd.Env = slices.Concat(os.Environ(), r.Env, []string{"PATH=" + r.bin + string(os.PathListSeparator) +
		os.Getenv("PATH")})
	places := []string{"GOENV", "GOPATH", "GOCACHE", "GOMODCACHE"}
	for i, place := range strings.Split(goCommand(r.t, append([]string{"env"}, places...)...), "\n") {
		cmd.Env = append(cmd.Env, places[i]+"="+place)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// building is held by who builds into makeDir, where what is up to date is not linked again.
var building sync.Mutex

// make runs a target, which builds where the other pages do.
func (r *reader) make(line string) string {
	r.t.Helper()
	building.Lock()
	defer building.Unlock()
	out, err := r.inCheckout(fmt.Sprintf("%s BIN=%s ECHO=%s", line, filepath.Join(makeDir, "signet-acp-proxy"),
		filepath.Join(makeDir, "echoagent")))
	if err != nil {
		r.t.Errorf("%s: %v\n%s", line, err, out)
	}
	return out
}

// check checks what can be checked of a command that is not run: that a target is there, an address the project's, and
// a version the one that the tests are run with.
func (r *reader) check(line string) error {
	words := strings.Fields(line)
	switch {
	case words[0] == "make":
		if out, err := r.inCheckout("make -n " + strings.Join(words[1:], " ")); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	case line == goInstall, line == goInstallTagged:
		module, _, _ := strings.Cut(words[len(words)-1], "@")
		if name := goCommand(r.t, "list", "-f", "{{.Name}}", module); name != "main" {
			return fmt.Errorf("it is package %s", name)
		}
	case line == npmInstall, line == npxInit:
		var ours struct{ Name string }
		text, err := os.ReadFile("../npm/package.json")
		must(r.box, err)
		must(r.box, json.Unmarshal(text, &ours))
		if !slices.Contains(words, ours.Name) {
			return fmt.Errorf("our package is %s", ours.Name)
		}
	case tested[line] != "":
		name, dir, _ := strings.Cut(tested[line], " ")
		if out, err := r.inCheckout("grep -q 'func " + name + "(' " + dir + "/*_test.go"); err != nil {
			return fmt.Errorf("there is no such test: %w%s", err, out)
		}
	case line == claudeAdapter:
		if p, _ := upstream.Lookup("claude"); !slices.ContainsFunc(p.Command, func(word string) bool {
			return strings.HasPrefix(word, "@agentclientprotocol/claude-agent-acp")
		}) {
			return fmt.Errorf("claude is started by %v", p.Command)
		}
	case words[0] == "npm":
		var pinned struct{ Dependencies map[string]string }
		text, err := os.ReadFile("package.json")
		must(r.box, err)
		must(r.box, json.Unmarshal(text, &pinned))
		name, version, _ := strings.Cut(words[len(words)-1], "@")
		if pinned.Dependencies[name] != version {
			return fmt.Errorf("the tests have %s@%s", name, pinned.Dependencies[name])
		}
	case words[0] == "git":
		module := goCommand(r.t, "list", "-m")
		if want := "git clone https://" + module + " && cd " + path.Base(module); line != want {
			return fmt.Errorf("want %s", want)
		}
	default:
		return fmt.Errorf("nothing is checked")
	}
	return nil
}
