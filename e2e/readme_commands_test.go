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
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// An execution says how a command of the pages is run, and what shows that it worked.
type execution struct {
	before string                       // what a reader has done before
	by     func(*reader, string) string // runs it and gives what it prints; nil: a shell does
	then   string                       // another command, which is asked for what came of it
	want   string                       // a pattern in what all of them print
}

// Executions has every command of the pages but those of notRun.
var executions = map[string]execution{
	"make run": {by: (*reader).make,
		want: `(?s)You are Halyard.*remembered: .*11\.42 metres.*sessions on record`},
	`make run AGENT=claude PROMPT="…"`: {by: (*reader).make, want: `(?s)reply:.*You are Halyard.*sessions on record`},
	"make build":                       {by: (*reader).make, want: `go build -tags sqlite_fts5`},
	"make licences":                    {by: (*reader).make, want: `github\.com/mattn/go-sqlite3 .*MIT`},
	goInstall:                          {by: (*reader).install, want: `(?m)^ok +search +full-text search works`},
	goInstallTagged:                    {by: (*reader).install, want: `(?m)^ok +search +full-text search works`},
	"signet-acp-proxy init":            {want: `it remembered`},
	"signet-acp-proxy -h":              {want: `SIGNET_ACP_PER_PROMPT`},
	"signet-acp-proxy --memory embedded doctor": {want: `(?m)^ok +database`},
	"signet-acp-proxy doctor":                   {want: `(?m)^ok +harness +claude speaks ACP`},
	"signet-acp-proxy doctor --json":            {},
	"signet-acp-proxy config show":              {want: `(?m)^memory +auto +default`},
	"signet-acp-proxy config show --json":       {},

	"signet-acp-proxy setup acpx --dry-run": {before: "rm -f ~/.acpx/config.json",
		then: "cat ~/.acpx/config.json || echo none", want: `(?s)\+ +"signet-claude".*none`},
	"signet-acp-proxy setup acpx": {then: "cat ~/.acpx/config.json",
		want: `"signet-codex": \{"command": "signet-acp-proxy"`},
	"signet-acp-proxy setup acpx gemini": {then: "cat ~/.acpx/config.json", want: `"signet-gemini"`},
	"signet-acp-proxy setup acpx NAME":   {then: "cat ~/.acpx/config.json", want: `"signet-gemini"`},
	"signet-acp-proxy setup acpx --remove": {before: setupClaude, then: "cat ~/.acpx/config.json || echo none",
		want: `signet-claude removed(?s:.*)none`},
	"signet-acp-proxy setup acpx --remove gemini": {before: "signet-acp-proxy setup acpx gemini",
		want: `signet-gemini removed`},
	"signet-acp-proxy setup acpx --remove NAME": {before: "signet-acp-proxy setup acpx gemini",
		want: `signet-gemini removed`},
	"signet-acp-proxy setup zed": {then: "cat $XDG_CONFIG_HOME/zed/settings.json",
		want: `"signet-claude": \{"type": "custom"`},
	"signet-acp-proxy setup zed gemini": {then: "cat $XDG_CONFIG_HOME/zed/settings.json",
		want: `"signet-gemini": \{"type": "custom"`},
	"signet-acp-proxy setup zed --remove": {before: "signet-acp-proxy setup zed gemini",
		want: `signet-gemini removed`},
	"signet-acp-proxy setup print gemini": {want: `"signet-gemini"`},
	"signet-acp-proxy setup print NAME":   {want: `"signet-gemini"`},

	`acpx signet-claude exec "Who are you, and who am I?"`:                                  {want: `(?s)You are Halyard.*Ines runs the yard`},
	`acpx signet-claude exec "Remember this: the mast of the Curlew is 11.42 metres long."`: {before: setupClaude},
	// as much time as a person leaves
	`acpx signet-claude exec "How long is the mast of the Curlew?"`: {before: "signet-acp-proxy memory list"},
	`SIGNET_BYPASS=1 acpx signet-claude exec "Hello"`: {before: setupClaude,
		want: `(?s)1 block.*> Hello`},
	"acpx signet-claude sessions new": {before: setupClaude,
		want: `echo-`},
	"acpx signet-gemini sessions new":                                                  {want: `echo-`},
	`acpx signet-gemini "Remember this: the mast of the Curlew is 11.42 metres long."`: {want: `> Remember this`},
	"acpx signet-gemini sessions close": {then: "signet-acp-proxy " +
		"memory search mast", want: `Remember this: the mast`},
	`acpx signet-gemini exec "How long is the mast of the Curlew?"`: {want: `(?s)## Memories.*Remember this: the mast`},

	"signet-acp-proxy --agent claude":                 {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent gemini":                 {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy -- gemini --acp":                {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent gemini -- gemini --acp": {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent mine -- my-agent --acp": {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent mine -- my-agent":       {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy mcp":                            {by: (*reader).tools, want: `memory_search`},

	"signet-acp-proxy sessions":                  {want: `echo-[0-9a-f]+ .* gemini-cli +20.* 1 +given`},
	"signet-acp-proxy sessions --json":           {want: `"continuedBy": "`},
	"signet-acp-proxy sessions --json --limit 1": {},
	"signet-acp-proxy sessions --limit 1":        {want: `echo-[0-9a-f]+`},
	"signet-acp-proxy log SESSION":               {want: `mast of the Curlew is 11\.42`},
	"signet-acp-proxy backup FILE":               {before: "rm -f copy.db", want: `written: copy\.db`},
	"signet-acp-proxy restore FILE": {before: "rm -f copy.db; signet-acp-proxy backup copy.db",
		want: `restored: `},
	"signet-acp-proxy uninstall --yes": {before: setupClaude,
		then: "test ! -e $SIGNET_PATH/acp/sessions.db && echo gone", want: `gone`},
	"signet-acp-proxy show SESSION":                  {want: `context +embedded +kept`},
	"signet-acp-proxy show SESSION --context":        {want: `(?s)^<signet-memory .*You are Halyard`},
	"signet-acp-proxy show SESSION --json":           {},
	"signet-acp-proxy show SESSION --json --context": {want: `"text": "<signet-memory `},
	"signet-acp-proxy preview":                       {want: `You are Halyard`},
	"signet-acp-proxy preview --agent claude":        {want: `You are Halyard`},
	"signet-acp-proxy preview --prompt TEXT":         {want: `(?s)You are Halyard.*mast of the Curlew`},

	"signet-acp-proxy preview --continues SESSION":     {want: `## Earlier in this conversation`},
	"signet-acp-proxy sessions --here --handoff codex": {want: `(?m)acpx --cwd .* sessions new && `},
	"signet-acp-proxy handoff SESSION --to codex":      {want: `(?m)acpx --cwd .* sessions new && `},

	"signet-acp-proxy view": {then: "cat $SIGNET_PATH/acp/view.html",
		want: `(?s)view\.html\n.*<title>What your agents were told.*mast of the Curlew`},
	"signet-acp-proxy usage":                             {want: `(?m)^HARNESS +SESSIONS`},
	"signet-acp-proxy usage --by day --since 30d --json": {want: `"memoryBytes": [1-9]`},
	"signet-acp-proxy events SESSION":                    {want: `turn_ended +\{`},
	"signet-acp-proxy events SESSION --json":             {want: `"kind":"turn_ended","turn":1,`},

	"signet-acp-proxy export otlp":                  {want: `"invoke_agent `},
	"signet-acp-proxy export otlp --out spans.json": {then: "cat spans.json", want: `"invoke_agent `},

	"signet-acp-proxy memory list":                                         {want: `mast of the Curlew`},
	"signet-acp-proxy memory list --json":                                  {want: `"content": ".*mast of the Curlew`},
	"signet-acp-proxy memory search WORDS":                                 {want: `mast of the Curlew`},
	`signet-acp-proxy memory search "mast of the Curlew" --limit 1 --json`: {},
	"signet-acp-proxy memory show ID":                                      {want: `(?m)^id +[0-9a-z]{26}$`},
	"signet-acp-proxy memory add TEXT":                                     {want: `(?m)^[0-9a-z]{26}$`},
	"signet-acp-proxy memory backfill": {then: "signet-acp-proxy memory backfill " +
		"--dry-run --json", want: `(?m)^\[`},
	"signet-acp-proxy memory backfill --dry-run": {then: "signet-acp-proxy memory backfill " +
		"--dry-run --json", want: `(?m)^\[`},
	"signet-acp-proxy memory backfill claude --since 30d": {then: "signet-acp-proxy memory backfill " +
		"--dry-run --json", want: `(?m)^\[`},
	"signet-acp-proxy forget --source backfill:claude": {want: `0 conversations from backfill:claude`},
	"signet-acp-proxy memory edit ID TEXT": {before: "signet-acp-proxy memory add 'A " +
		"mistake.'", want: `changed: [0-9a-z]{26}`},
	"signet-acp-proxy memory pin ID": {before: "signet-acp-proxy memory add 'A " +
		"mistake.'", want: `pinned: [0-9a-z]{26}`},
	"signet-acp-proxy memory forget ID": {before: "signet-acp-proxy memory add 'A " +
		"mistake.'", want: `forgotten: `},
	"signet-acp-proxy memory list --agents": {before: claudeNotes, want: `The keel of the Curlew is lead`},
	"signet-acp-proxy memory promote LINE":  {before: claudeNotes, want: `[0-9a-z]{26}`},
	"signet-acp-proxy memory export":        {want: `(?m)^\{"id":".*mast of the Curlew`},
	"signet-acp-proxy memory export > memories.jsonl": {then: "cat memories.jsonl",
		want: `mast of the Curlew`},
	"signet-acp-proxy memory import < memories.jsonl": {before: "signet-acp-proxy memory export > " +
		"memories.jsonl", want: `0 added, 0 updated`},
	"signet-acp-proxy memory import memories.jsonl": {before: "signet-acp-proxy memory export > " +
		"memories.jsonl", want: `0 added`},
	"signet-acp-proxy preview --json": {want: `"block": "<signet-memory`},
	"signet-acp-proxy memory import":  {want: `0 added`},

	"signet-acp-proxy forget SESSION": {then: "signet-acp-proxy show SESSION || echo gone",
		want: `forgotten: .*1 turn(?s:.*)gone`},
	"signet-acp-proxy forget --undo": {before: "signet-acp-proxy memory add 'A mistake.'; " +
		"signet-acp-proxy memory forget $(signet-acp-proxy memory add 'A mistake.')", want: `back again: the memory`},
	"signet-acp-proxy agents":                       {want: `(?m)^claude +available`},
	"signet-acp-proxy delegations":                  {want: `^DELEGATION +AGENT`},
	"signet-acp-proxy prune --older-than 90d":       {want: `nothing to remove`},
	"signet-acp-proxy prune --older-than 90d --yes": {want: `nothing to remove`},
	"signet-acp-proxy deliver --wait":               {then: "signet-acp-proxy doctor", want: `nothing pending`},
	"signet-acp-proxy deliver --once":               {then: "signet-acp-proxy doctor", want: `nothing pending`},
	"source <(signet-acp-proxy completion bash)":    {by: (*reader).completion, want: `signet-acp-proxy`},
	"source <(signet-acp-proxy completion zsh)":     {by: (*reader).completion, want: `signet-acp-proxy`},
	"signet-acp-proxy completion fish | source":     {by: (*reader).completion, want: `signet-acp-proxy`},
}

const (
	backfillBench = "SIGNET_BACKFILL_MB=64 go test -tags sqlite_fts5 -run - -bench Backfill -benchtime 1x " +
		"./cmd/signet-acp-proxy/internal/runtime"
	claudeNotes     = "mkdir -p ~/.claude && echo '- The keel of the Curlew is lead.' > ~/.claude/CLAUDE.md"
	daemonFaults    = "go test -tags sqlite_fts5 -run TestDaemonFaults -v ./e2e"
	allFaults       = "go test -tags sqlite_fts5 -run 'TestFaults$' -v ./e2e"
	viewLive        = "signet-acp-proxy view --live"
	telemetryPost   = "signet-acp-proxy export otlp --endpoint http://127.0.0.1:4318 --since 7d"
	claudeAdapter   = "npx -y @agentclientprotocol/claude-agent-acp@0.100.0"
	setupClaude     = "signet-acp-proxy setup acpx claude"
	goInstall       = "go install github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest"
	goInstallTagged = "go install -tags sqlite_fts5 github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest"
	npmInstall      = "npm install -g signet-acp-proxy"
	npxInit         = "npx -y signet-acp-proxy init"
	gitClone        = "git clone https://github.com/Signet-AI/signet-acp-proxy && cd signet-acp-proxy"
)

// Unplayed has the commands that no test can run, and why. What can be checked of them is: see (*reader).check.
var notRun = map[string]string{
	"make test":                  "this is part of it",
	"make test PKG=./proxy":      "this is part of it",
	"make bench":                 "takes a minute of a machine that does nothing else",
	"make bench FLAGS=-limits":   "takes a minute of a machine that does nothing else",
	backfillBench:                "measures for a minute",
	viewLive:                     "serves until it is left; TestViewLive does that",
	"make bench-readme":          "takes a minute of a machine that does nothing else, and writes into the checkout",
	"make fuzz":                  "takes half a minute for each target",
	"make recall":                "measures for minutes",
	"make harnesses":             "installs 1.5 GB",
	daemonFaults:                 "takes minutes, and is part of the tests",
	allFaults:                    "takes minutes, and is part of the tests",
	telemetryPost:                "nobody listens there; telemetry.TestPost does",
	claudeAdapter:                "fetches; any adapter may stand there",
	"make pictures":              "needs a Chromium, and fetches what drives it",
	"make lint":                  "fetches staticcheck",
	"make gitleaks":              "fetches a module of its own",
	"make vuln":                  "fetches the list of vulnerabilities",
	"make release":               "builds for minutes, and into the checkout",
	"npm install -g acpx@0.19.1": "fetches, and installs for the whole machine",
	npmInstall:                   "fetches, and installs for the whole machine; scripts/packages installs the package",
	npxInit:                      "fetches; scripts/packages has it from a registry of its own",
	gitClone:                     "fetches what is not there yet when a change is tested",
}

// Tested has, of those, what does the same in a test: its name and folder.
var tested = map[string]string{
	daemonFaults:  "TestDaemonFaults e2e",
	allFaults:     "TestFaults e2e",
	telemetryPost: "TestPost telemetry",
	viewLive:      "TestViewLive e2e",
	backfillBench: "BenchmarkBackfill cmd/signet-acp-proxy/internal/runtime",
}

func known(line string) bool {
	_, known := executions[line]
	return known || notRun[line] != ""
}

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
	// Nobody listens on that port; and a crowded machine may take longer than a person's.
	r.set("PATH="+r.bin, "SIGNET_PORT=1")
	return r
}

func (r *reader) script(name, line string) {
	r.t.Helper()
	must(r.box, os.WriteFile(filepath.Join(r.bin, name), []byte("#!/bin/sh\n"+line+"\n"), 0o700))
}

// shell runs a line and gives all that it prints.
func (r *reader) shell(line string) string {
	r.t.Helper()
	out := r.try(filepath.Join(r.bin, "sh"), "-c", line)
	if out.Code != 0 {
		r.t.Errorf("%s: exit %d\n%s%s", line, out.Code, out.Stdout, out.Stderr)
	}
	return out.Stdout + out.Stderr
}

var placeholder = regexp.MustCompile(`\b(SESSION|ID|NAME|TEXT|WORDS|FILE|LINE)\b`)

// fill puts what is there in the places of what a reader has to fill in.
func (r *reader) fill(line string) string {
	return placeholder.ReplaceAllStringFunc(line, func(word string) string {
		var rows []struct{ ID, AcpxSessionID string }
		switch word {
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
	seen := map[string]bool{}
	for _, p := range pages(t) {
		for _, c := range p.commands {
			seen[c.line] = true
			if !known(c.line) {
				t.Errorf("%s: nobody knows how to run %q: add it to executions, or to notRun with the reason", c.where, c.line)
			}
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t)
			r.converseTwice()
			r.shell("signet-acp-proxy memory add 'The mast of the Curlew is of spruce.'") // a memory, beside what was said
			done := map[string]bool{}
			for _, c := range p.commands {
				if (!done[c.line] || c.shows != "") && known(c.line) {
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

// converse has a conversation of one prompt with the agent that a line starts, and gives what that was given.
func (r *reader) converse(line string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	c, err := call(r.Command(ctx, nil, filepath.Join(r.bin, "sh"), "-c", "exec "+line))
	must(r.box, err)
	session, err := c.newSession(r.Work)
	must(r.box, err)
	must(r.box, c.prompt(session, "The mast of the Curlew is 11.42 metres long."))
	c.hangUp()
	var given strings.Builder
	for _, block := range r.received(session).Turns[0].Blocks {
		given.WriteString(block.Text + "\n")
	}
	return given.String()
}

// converseTwice has two conversations, and gives what the agent was given in the second one, which knows of the first.
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

// completion loads a completion script into the shell that it is for; without that shell the script itself is looked
// at.
func (r *reader) completion(line string) string {
	r.t.Helper()
	name := regexp.MustCompile(`completion (\w+)`).FindStringSubmatch(line)[1]
	shell := filepath.Join(r.bin, name)
	if _, err := os.Stat(shell); err != nil {
		return r.shell("signet-acp-proxy completion " + name)
	}
	load := map[string]string{"zsh": "autoload -U compinit && compinit -u -D\n"}[name]
	ask := map[string]string{
		"bash": "complete -p signet-acp-proxy", "zsh": "[[ -n ${_comps[signet-acp-proxy]} ]] && print signet-acp-proxy",
		"fish": "complete | string match '*signet-acp-proxy*'",
	}[name]
	return r.run(shell, "-c", load+line+"\n"+ask)
}

// inCheckout runs a line in the checkout, with the machine's own programs and Go's caches, and everything else of the
// reader's.
func (r *reader) inCheckout(line string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = ".."
	cmd.Env = slices.Concat(os.Environ(), r.Env, []string{"PATH=" + r.bin + string(os.PathListSeparator) +
		os.Getenv("PATH")})
	for _, name := range []string{"GOENV", "GOPATH", "GOCACHE", "GOMODCACHE"} {
		cmd.Env = append(cmd.Env, name+"="+goCommand(r.t, "env", name))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// make runs a target, which builds into the sandbox.
func (r *reader) make(line string) string {
	r.t.Helper()
	built := filepath.Join(r.Dir, "built")
	out, err := r.inCheckout(fmt.Sprintf("%s BIN=%s ECHO=%s", line, filepath.Join(built, "signet-acp-proxy"),
		filepath.Join(built, "echoagent")))
	if err != nil {
		r.t.Errorf("%s: %v\n%s", line, err, out)
	}
	return out
}

// install builds what a `go install` of a version would, from the checkout, and asks the result how it is.
func (r *reader) install(line string) string {
	r.t.Helper()
	words := strings.Fields(line)
	module, _, _ := strings.Cut(words[len(words)-1], "@")
	bin := filepath.Join(r.Dir, "installed")
	if out, err := r.inCheckout(fmt.Sprintf("go build %s -o %s %s", strings.Join(words[2:len(words)-1], " "), bin,
		module)); err != nil {
		r.t.Errorf("%s: %v\n%s", line, err, out)
	}
	return r.run(bin, "doctor")
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

// Every configuration in the pages is one that the program takes, or what it writes.
func TestPageBlocks(t *testing.T) {
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			check := map[string]func(*reader, *page, string){"yaml": (*reader).settings, "json": (*reader).object,
				"text": (*reader).sample}[b.language]
			if check != nil {
				t.Run(b.where, func(t *testing.T) {
					t.Parallel()
					check(newReader(t), p, b.text)
				})
			}
		}
	}
}

// settings checks an agent.yaml.
func (r *reader) settings(_ *page, text string) {
	r.configure(text)
	if out := r.shell("signet-acp-proxy config show"); !strings.Contains(out, "agent.yaml:") {
		r.t.Errorf("nothing is configured by\n%s", text)
	}
}

func (r *reader) configure(text string) {
	must(r.box, os.WriteFile(filepath.Join(r.Signet, "agent.yaml"), []byte(text), 0o600))
}

// object checks a JSON block by what it is: a client's configuration, which is the one that we write, an entry for
// programs that take MCP servers, or what on_session_end reads.
func (r *reader) object(p *page, text string) {
	text = strings.ReplaceAll(text, "/path/to/", r.bin+"/")
	var keys map[string]json.RawMessage
	must(r.box, json.Unmarshal([]byte(text), &keys))
	names := slices.Sorted(maps.Keys(keys))
	files := map[string][2]string{
		"agents":        {"acpx", filepath.Join(r.Home, ".acpx", "config.json")},
		"agent_servers": {"zed", filepath.Join(r.Home, "xdg", "config", "zed", "settings.json")},
	}
	switch client, ok := files[names[0]]; {
	case ok:
		var entries map[string]any
		must(r.box, json.Unmarshal(keys[names[0]], &entries))
		for name := range entries {
			r.shell("signet-acp-proxy setup " + client[0] + " " + name)
		}
		written, err := os.ReadFile(client[1])
		must(r.box, err)
		r.equal(text, string(written))
	case names[0] == "mcpServers":
		var servers map[string]struct {
			Command string
			Args    []string
		}
		must(r.box, json.Unmarshal(keys["mcpServers"], &servers))
		for _, s := range servers {
			for name := range strings.Lines(r.tools(strings.Join(append([]string{s.Command}, s.Args...), " "))) {
				if name = strings.TrimSpace(name); !strings.Contains(p.prose, "`"+name+"`") {
					r.t.Errorf("%s does not name the tool %s", p.name, name)
				}
			}
		}
	case slices.Contains(names, "transcriptPath"):
		r.configure("acp: {on_session_end: [sh, -c, 'cat > " + filepath.Join(r.Dir, "ended") + "']}")
		r.converse("signet-acp-proxy --agent gemini")
		r.shell("signet-acp-proxy deliver --wait")
		var ended map[string]any
		r.wait("the hook", func() bool {
			got, err := os.ReadFile(filepath.Join(r.Dir, "ended"))
			return err == nil && json.Unmarshal(got, &ended) == nil
		})
		if diff := cmp.Diff(names, slices.Sorted(maps.Keys(ended))); diff != "" {
			r.t.Errorf("what the hook reads (-page +got):\n%s", diff)
		}
	default:
		r.t.Errorf("nobody knows what this is:\n%s", text)
	}
}

// equal compares JSON.
func (r *reader) equal(page, got string) {
	var values [2]any
	for i, text := range []string{page, got} {
		must(r.box, json.Unmarshal([]byte(text), &values[i]))
	}
	if diff := cmp.Diff(values[0], values[1]); diff != "" {
		r.t.Errorf("(-page +got):\n%s", diff)
	}
}

// sample checks a picture of our block: what is not a person's stands in a real one.
func (r *reader) sample(_ *page, text string) {
	if !strings.HasPrefix(text, blockMark) {
		return // a picture of something else
	}
	got := r.converseTwice()
	for line := range strings.Lines(text) {
		line = regexp.MustCompile(`id="[0-9a-f]+"`).ReplaceAllString(strings.TrimSpace(line), `id="…"`)
		if !strings.HasPrefix(line, "- (") && line != "…" &&
			!regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")).MatchString(got) {
			r.t.Errorf("no %q in\n%s", line, got)
		}
	}
}
