// Command run does the main job once, so that a person can see it on one screen: real acpx in front of the proxy, the
// proxy in front of a harness. In one session the harness is told something worth remembering; in another, in a new
// process, it is asked about it. What the second session was given is shown, and whether it remembered.
//
// It says what it is doing; scripts/run.sh has built it with both programs. Without -agent the harness is echoagent, in
// a HOME and a SIGNET_PATH made for the occasion. With it, it is the harness of that name with the person's own login
// and ~/.agents. Every process is ended and every folder removed before it returns.
//
//	bin/run -proxy bin/signet-acp-proxy -echo bin/echoagent
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/npm"
	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

const (
	told = "Remember this for later: the mast of the Curlew is 11.42 metres long, and her new mainsail comes on " +
		"2026-12-03."
	asked = "How long is the mast of the Curlew, and when does her mainsail come?"
	known = "11.42 metres" // what shows that it remembered
)

// options are the command line's.
type options struct {
	dir, proxy, echo, agent, prompt string
	verbose                         bool
	limit                           time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.dir, "e2e", "e2e", "the folder with package.json and testdata")
	flag.StringVar(&o.proxy, "proxy", "", "signet-acp-proxy")
	flag.StringVar(&o.echo, "echo", "", "echoagent")
	flag.StringVar(&o.agent, "agent", "", "a real harness, with the person's own HOME; empty: echoagent")
	flag.StringVar(&o.prompt, "prompt", told, "what to say in the first session")
	flag.BoolVar(&o.verbose, "verbose", false, "print both replies as they came, too")
	flag.DurationVar(&o.limit, "limit", 10*time.Minute, "how long all of it may take")
	flag.Parse()
	if o.prompt == "" {
		o.prompt = told
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	if o.proxy == "" || o.echo == "" {
		return errors.New("-proxy and -echo must name the programs")
	}
	for _, name := range []*string{&o.proxy, &o.echo} {
		if *name, err = filepath.Abs(*name); err != nil { // commands run in another folder
			return err
		}
	}
	for _, program := range []string{o.proxy, o.echo} {
		if _, err := os.Stat(program); err != nil {
			return fmt.Errorf("%w: make build", err)
		}
	}
	var modules npm.Modules
	err = step("installing acpx under "+o.dir+", the first time only", func() (err error) {
		modules, err = npm.Install(ctx, o.dir)
		return err
	})
	if err != nil {
		return err
	}
	acpx, err := modules.Script("acpx/dist/cli.js")
	if err != nil {
		return err
	}

	box, err := open(o.agent == "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	c := conversation{box: box, acpx: acpx}
	if c.agent, err = register(box, o); err != nil {
		return err
	}
	return c.show(ctx, o)
}

// waiting is how often a step that goes on says so.
const waiting = 4 * time.Second

// step says what is done while it is, and how long it took.
func step(what string, do func() error) error {
	begun := time.Now()
	fmt.Printf("%s …", what)
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(waiting)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			fmt.Printf(" %.1f s\n", time.Since(begun).Seconds())
			return err
		case <-tick.C:
			fmt.Printf(" %.0f s …", time.Since(begun).Seconds())
		}
	}
}

func open(alone bool) (*sandbox.Sandbox, error) {
	if alone {
		return sandbox.New()
	}
	return sandbox.Borrow()
}

// register enters the proxied agent into acpx's configuration and returns the name that it has there.
func register(box *sandbox.Sandbox, o options) (string, error) {
	if o.agent != "" {
		return "signet-" + o.agent, box.Register("signet-"+o.agent, o.proxy, "--agent", o.agent)
	}
	if err := box.CopyIdentity(filepath.Join(o.dir, "testdata", "agents")); err != nil {
		return "", err
	}
	return "signet-echo", box.Register("signet-echo", o.proxy, "--agent", "echo", "--", o.echo)
}

// A conversation is acpx with one agent.
type conversation struct {
	box   *sandbox.Sandbox
	acpx  []string
	agent string
}

// show has the two sessions and prints what there is to see.
func (c conversation) show(ctx context.Context, o options) error {
	second := asked
	if o.agent != "" {
		second = "Who are you, who am I, and what did I say in our session before this one?"
	}
	var replies []string
	for i, words := range []string{o.prompt, second} {
		fmt.Println()
		err := step(fmt.Sprintf("== session %d: acpx, signet-acp-proxy and %s, each a new process", i+1,
			strings.TrimPrefix(c.agent, "signet-")), func() error {
			reply, err := c.session(ctx, words)
			replies = append(replies, strings.TrimSpace(reply))
			return err
		})
		if err != nil {
			return err
		}
		fmt.Printf("prompt: %s\n", words)
		if o.verbose || o.agent != "" {
			fmt.Printf("reply:\n%s\n", replies[i])
		}
	}
	given, err := c.given(ctx, o.proxy)
	if err != nil {
		return err
	}
	fmt.Println("inserted before it:")
	for _, line := range digest(given) {
		fmt.Println("  " + line)
	}
	if o.prompt == told {
		remembered, err := memoryOf(given)
		if err != nil {
			return err
		}
		fmt.Printf("recalled: %s\n", remembered)
	}

	fmt.Print("\n== saved sessions\n")
	list := c.box.Command(ctx, nil, o.proxy, "sessions", "--limit", "2", "--signet-path", c.box.Signet)
	list.Stdout, list.Stderr = os.Stdout, os.Stderr
	return list.Run()
}

// given is what the newest session was given, word for word.
func (c conversation) given(ctx context.Context, proxy string) (string, error) {
	r, err := c.box.Run(ctx, nil, proxy, "sessions", "--limit", "1", "--json", "--signet-path", c.box.Signet)
	if err != nil {
		return "", err
	}
	var rows []struct {
		ID string `json:"acpxSessionId"`
	}
	if err := json.Unmarshal([]byte(r.Stdout), &rows); err != nil || len(rows) == 0 {
		return "", fmt.Errorf("no session is on record: %w\n%s", err, r.Stderr)
	}
	r, err = c.box.Run(ctx, nil, proxy, "show", rows[0].ID, "--context", "--signet-path", c.box.Signet)
	return r.Stdout, err
}

// lineWidth is how much of a line the digest shows.
const lineWidth = 110

// digest has of each identity file the first line, and the memories.
func digest(given string) []string {
	var lines []string
	file := ""
	for line := range strings.Lines(given) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#") && strings.HasSuffix(line, ".md"):
			file = strings.TrimLeft(line, "# ") + ": "
		case strings.HasPrefix(line, "- ("):
			lines = append(lines, cut(line))
		case file != "" && line != "" && line[0] != '#':
			lines = append(lines, cut(file+line))
			file = ""
		}
	}
	return lines
}

func cut(line string) string {
	if runes := []rune(line); len(runes) > lineWidth {
		return string(runes[:lineWidth-1]) + "…"
	}
	return line
}

// memoryOf finds in what was given the memory of what was told.
func memoryOf(given string) (string, error) {
	for line := range strings.Lines(given) {
		if strings.Contains(line, known) {
			return cut(strings.TrimSpace(strings.TrimPrefix(line, "- "))), nil
		}
	}
	return "", errors.New("the second session was not told what was said in the first")
}

// session opens a session, says one thing in it and closes it; acpx starts the agent anew for each of these.
func (c conversation) session(ctx context.Context, words string) (reply string, err error) {
	if _, err := c.run(ctx, "sessions", "new"); err != nil {
		return "", err
	}
	reply, err = c.run(ctx, words)
	// The session is closed whatever came of it, also when ctx has ended: its agent must not live on.
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	_, cerr := c.run(closing, "sessions", "close")
	return reply, errors.Join(err, cerr)
}

func (c conversation) run(ctx context.Context, words ...string) (string, error) {
	command := append(append([]string{}, c.acpx...), "--format", "quiet", "--ttl", "30", c.agent)
	r, err := c.box.Run(ctx, nil, append(command, words...)...)
	if err == nil && r.Code != 0 {
		err = fmt.Errorf("acpx %s: exit %d\n%s%s", words[0], r.Code, r.Stdout, r.Stderr)
	}
	return r.Stdout, err
}
