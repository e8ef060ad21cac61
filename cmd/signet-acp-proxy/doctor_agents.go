package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// clients looks at our entries in clients' files.
func (e *examination) clients(context.Context) []finding {
	var found []finding
	for _, name := range []string{"acpx", "zed"} {
		file, err := openClient(name)
		if err != nil {
			found = append(found, finding{name, problem, err.Error(), ""})
			continue
		}
		if !file.there {
			continue
		}
		entries, err := file.entries()
		if err != nil {
			found = append(found, finding{name, problem, err.Error(), "correct it"})
			continue
		}
		stale, good := 0, []string{}
		for _, entry := range entries {
			if !entry.ours() {
				continue
			}
			if why, fix := e.stale(name, entry); why != "" {
				stale++
				found = append(found, finding{name, problem, fmt.Sprintf("%s:%d: %s: %s", file.path, entry.line, entry.name, why), fix})
				continue
			}
			good = append(good, entry.name)
		}
		switch {
		case len(good) > 0:
			found = append(found, finding{name, fine, strings.Join(good, ", ") + " in " + file.path, ""})
		case stale == 0:
			found = append(found, finding{name, note, "no entry of ours in " + file.path, "signet-acp-proxy setup " + name})
		}
	}
	if found == nil {
		found = []finding{{"clients", note, "neither acpx nor Zed is configured here", "signet-acp-proxy setup acpx, or setup print for any other client"}}
	}
	return found
}

// stale says what is wrong with an entry of ours, and what to do.
func (e *examination) stale(client string, entry entry) (why, fix string) {
	again := fmt.Sprintf("signet-acp-proxy setup %s --remove %[2]s, then signet-acp-proxy setup %[1]s %[2]s", client, strings.TrimPrefix(entry.name, entryPrefix))
	name, command := harnessOf(entry.command)
	switch {
	case entry.argv:
		return "argv is what acpx 0.7.0 stops at, for every agent", again
	case !onPath(entry.command[0]):
		return entry.command[0] + " is not there any more", again
	case name == "" && len(command) == 0:
		return "names no harness", again
	case len(command) > 0:
		return "", ""
	}
	if _, known := e.c.profile(name); !known {
		return fmt.Sprintf("no agent is known as %q", name), again
	}
	return "", ""
}

// harnessOf gives the harness that a command line of ours names: by --agent, by its command behind --, or by both.
func harnessOf(ours []string) (name string, command []string) {
	for i := 1; i < len(ours); i++ {
		switch value, given := strings.CutPrefix(ours[i], "--agent="); {
		case ours[i] == "--":
			return name, ours[i+1:]
		case given:
			name = value
		case ours[i] == "--agent" && i+1 < len(ours):
			i++
			name = ours[i]
		}
	}
	return name, nil
}

// doubleFindings looks for Signet's own integrations in harnesses, which would inject beside us.
func (c *Config) doubleFindings() []finding {
	const check = "injection"
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	places := []struct {
		agent   string
		globs   []string
		mention bool // the file is everybody's: it has to name Signet
		deaf    bool // does not look at SIGNET_NO_HOOKS
	}{
		{"claude", []string{filepath.Join(folder("CLAUDE_CONFIG_DIR", home, ".claude"), "settings*.json")}, true, false},
		{"codex", []string{filepath.Join(folder("CODEX_HOME", home, ".codex"), "hooks.json"), filepath.Join(folder("CODEX_HOME", home, ".codex"), "config.toml")}, true, false},
		{"gemini", []string{filepath.Join(home, ".gemini", "settings.json")}, true, false},
		{"opencode", []string{filepath.Join(config, "opencode", "plugin*", "*signet*")}, false, true},
		{"opencode", []string{filepath.Join(config, "opencode", "opencode.json*")}, true, true},
		{"openclaw", []string{filepath.Join(home, ".openclaw", "openclaw.json")}, true, true},
	}
	var found []finding
	for _, p := range places {
		if !c.agent(p.agent).Inject {
			continue
		}
		for _, glob := range p.globs {
			files, err := filepath.Glob(glob)
			if err != nil {
				continue // a home with brackets in its name
			}
			for _, file := range files {
				if p.mention && !hooksSignet(file, p.deaf) {
					continue
				}
				switch {
				case p.deaf:
					found = append(found, finding{check, problem, fmt.Sprintf("%s has Signet's own plugin (%s), which injects beside us", p.agent, file), fmt.Sprintf("remove it, or set acp: agents: %s: inject: off", p.agent)})
				case c.Hooks != "disabled":
					found = append(found, finding{check, problem, fmt.Sprintf("%s has Signet's own hooks (%s), and hooks is %s: both inject", p.agent, file, c.Hooks), "set hooks: disabled, or acp: agents: " + p.agent + ": inject: off"})
				default:
					found = append(found, finding{check, fine, fmt.Sprintf("%s has Signet's own hooks (%s); they rest while we inject", p.agent, file), ""})
				}
			}
		}
	}
	if found == nil {
		found = []finding{{check, fine, "no harness has Signet's own hooks", ""}}
	}
	return found
}

// folder is where a variable says, else below home.
func folder(variable, home, name string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join(home, name)
}

// hooksSignet reports whether a settings file runs Signet's hooks, or for a deaf harness names its plugin. That the
// file names the signet MCP server, or us, is no matter.
func hooksSignet(file string, plugin bool) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	text = bytes.ToLower(text)
	if plugin {
		return bytes.Contains(text, []byte(`"signet`)) && (bytes.Contains(text, []byte(`"plugin`)) || bytes.Contains(text, []byte(`"plugins`))) || bytes.Contains(text, []byte("@signet"))
	}
	return bytes.Contains(text, []byte("signet hook")) || bytes.Contains(text, []byte("signet-hook"))
}

// harnesses starts the harnesses that are in use here and sees whether they speak ACP.
func (e *examination) harnesses(ctx context.Context, named []string) []finding {
	const check = "harness"
	type patient struct {
		name    string
		command []string // nil: by name
	}
	var patients []patient
	seen := map[string]bool{}
	add := func(name string, command []string) {
		key := canonical(name) + "\x00" + strings.Join(command, "\x00")
		if p, known := e.c.profile(name); known && (slices.Equal(command, p.Command) || slices.Equal(command, p.Installed)) {
			command, key = nil, p.Name+"\x00"
		}
		if !seen[key] {
			seen[key] = true
			patients = append(patients, patient{name, command})
		}
	}
	var found []finding
	for _, name := range named {
		if _, known := e.c.profile(name); !known {
			found = append(found, finding{check, problem, fmt.Sprintf("no agent is known as %q", name), "give it a command in the acp: section, under agents:"})
			continue
		}
		add(name, nil)
	}
	for _, client := range []string{"acpx", "zed"} {
		file, err := openClient(client)
		if err != nil {
			continue // clients says so
		}
		entries, _ := file.entries()
		for _, one := range entries {
			if name, command := harnessOf(one.command); one.ours() && (name != "" || len(command) > 0) {
				if _, known := e.c.profile(name); known || len(command) > 0 {
					add(name, command)
				}
			}
		}
	}
	for name, agent := range e.c.Agents {
		if len(agent.Command) > 0 {
			add(name, nil)
		}
	}
	for _, name := range upstream.Names() {
		p, _ := upstream.Lookup(name)
		if program := p.Command[0]; program != "npx" && program != "uvx" && onPath(program) || len(p.Installed) > 0 && onPath(p.Installed[0]) {
			add(name, nil)
		}
	}
	if len(patients) == 0 {
		return append(found, finding{check, note, "none is set up and none was found on PATH", "install one, or name it: signet-acp-proxy doctor --agent NAME"})
	}
	results := make([]finding, len(patients))
	var wg sync.WaitGroup
	for i, one := range patients {
		wg.Go(func() { results[i] = e.harness(ctx, one.name, one.command) })
	}
	wg.Wait()
	slices.SortFunc(results, func(a, b finding) int { return strings.Compare(a.Text, b.Text) })
	return append(found, results...)
}

const (
	initializeTime = 10 * time.Second
	fetchingTime   = time.Minute // npx and uvx may have to fetch it first
)

const initializeRequest = `{"jsonrpc":"2.0","id":"signet-acp-proxy-doctor","method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"signet-acp-proxy","version":%s},"clientCapabilities":{}}}` + "\n"

// harness starts one and asks it who it is.
func (e *examination) harness(ctx context.Context, name string, command []string) finding {
	const check = "harness"
	profile, _ := e.c.profile(name)
	if name == "" {
		profile, _ = upstream.ByCommand(command)
		name = strings.Join(command, " ")
	}
	options := upstream.Options{Command: command, Env: withHooks(nil, "disabled")}
	if err := profile.Prepare(ctx, &options, upstream.Limits{}); err != nil {
		return finding{check, problem, fmt.Sprintf("%s: %v", name, err), "install it, or take it out of the client's configuration"}
	}
	limit := initializeTime
	if program := filepath.Base(options.Command[0]); program == "npx" || program == "uvx" {
		limit = fetchingTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begun := time.Now()
	agent, err := initialize(ctx, options)
	line := strings.Join(options.Command, " ")
	switch {
	case errors.Is(err, upstream.ErrNotStarted):
		return finding{check, problem, fmt.Sprintf("%s: %v", name, err), "install it again"}
	case ctx.Err() != nil && err != nil:
		return finding{check, problem, fmt.Sprintf("%s: %s does not answer initialize within %v: it does not speak ACP, or hangs", name, line, limit), "run it by hand; see how it is started as an ACP agent"}
	case err != nil:
		return finding{check, problem, fmt.Sprintf("%s: %s does not speak ACP: %v", name, line, err), "run it by hand; see how it is started as an ACP agent"}
	case agent.ProtocolVersion != 1:
		return finding{check, note, fmt.Sprintf("%s speaks ACP version %d, of which we pass everything and change nothing", name, agent.ProtocolVersion), ""}
	}
	return finding{check, fine, strings.TrimRight(fmt.Sprintf("%s speaks ACP after %d ms: %s %s", name, time.Since(begun).Milliseconds(), agent.AgentInfo.Name, agent.AgentInfo.Version), " "), ""}
}

// An introduction is what an agent says of itself.
type introduction struct {
	ProtocolVersion int `json:"protocolVersion"`
	AgentInfo       struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
}

// initialize starts an agent, greets it, and ends it. Without an answer the error says what came instead.
func initialize(ctx context.Context, o upstream.Options) (introduction, error) {
	version, err := json.Marshal(versionName())
	if err != nil {
		return introduction{}, err
	}
	p, err := upstream.Start(o)
	if err != nil {
		return introduction{}, err
	}
	stop := context.AfterFunc(ctx, func() { p.Terminate(syscall.SIGKILL) })
	agent, err := greet(p, fmt.Sprintf(initializeRequest, version))
	stop()
	p.Terminate(syscall.SIGTERM)
	ended := p.Wait()
	if err != nil && ctx.Err() == nil {
		if last := p.LastStderr(); len(last) > 0 {
			err = fmt.Errorf("%w (%s; its last words: %s)", err, ended, last[len(last)-1])
		}
	}
	return agent, err
}

// greet sends initialize and reads up to the answer.
func greet(p *upstream.Process, request string) (introduction, error) {
	if _, err := p.Stdin.Write([]byte(request)); err != nil {
		return introduction{}, errors.New("it closed its stdin")
	}
	lines := bufio.NewScanner(p.Stdout)
	lines.Buffer(nil, 1<<20)
	noise := ""
	for lines.Scan() {
		var reply struct {
			ID     any             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(lines.Bytes(), &reply) != nil || reply.ID != "signet-acp-proxy-doctor" {
			if noise == "" {
				noise = cut(printable(lines.Text()), 60)
			}
			continue
		}
		if reply.Error != nil {
			return introduction{}, fmt.Errorf("it refuses: %s", cut(printable(reply.Error.Message), 200))
		}
		var agent introduction
		if json.Unmarshal(reply.Result, &agent) != nil || agent.ProtocolVersion == 0 {
			return introduction{}, errors.New("its answer to initialize names no protocolVersion")
		}
		return agent, nil
	}
	if noise != "" {
		return introduction{}, fmt.Errorf("it says %q", noise)
	}
	return introduction{}, errors.New("it ended without a word")
}
