// Command run does the main job once, so that a person can see it: real acpx in front of the proxy, the proxy in front of a
// harness. In one session the harness is told something worth remembering; in another, in a new process, it is asked about
// it. Both replies are printed as they came, then the table of the sessions that the proxy has on record.
//
// Without -agent the harness is echoagent, in a HOME and a SIGNET_PATH made for the occasion. With it, it is the harness of
// that name with the person's own login and ~/.agents. Every process is ended and every folder removed before it returns.
//
//	go run ./e2e/run -proxy bin/signet-acp-proxy -echo bin/echoagent
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/npm"
	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

const (
	told  = "Remember this for later: the mast of the Curlew is 11.42 metres long, and her new mainsail comes on 2026-12-03."
	asked = "How long is the mast of the Curlew, and when does her mainsail come?"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	dir := flag.String("e2e", "e2e", "the folder with package.json and testdata")
	proxy := flag.String("proxy", "", "the built signet-acp-proxy")
	echo := flag.String("echo", "", "the built echoagent")
	agent := flag.String("agent", "", "a real harness, with the person's own HOME; empty: echoagent")
	prompt := flag.String("prompt", "", "what to say in the first session")
	limit := flag.Duration("limit", 10*time.Minute, "how long all of it may take")
	flag.Parse()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()

	command, err := absolute(*proxy)
	if err != nil {
		return err
	}
	fmt.Println("installing acpx under", *dir, "(the first time only)")
	modules, err := npm.Install(ctx, *dir)
	if err != nil {
		return err
	}
	acpx, err := modules.Script("acpx/dist/cli.js")
	if err != nil {
		return err
	}

	box, err := open(*agent == "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	c := conversation{box: box, acpx: acpx}
	if c.agent, err = register(box, *agent, command, *echo, *dir); err != nil {
		return err
	}
	first := told
	if *prompt != "" {
		first = *prompt
	}
	second := asked
	if *agent != "" {
		second = "Who are you, who am I, and what did I say in our session before this one?"
	}
	for i, words := range []string{first, second} {
		fmt.Printf("\n== session %d: %s\n\n", i+1, words)
		reply, err := c.session(ctx, words)
		if err != nil {
			return err
		}
		fmt.Println(strings.TrimSpace(reply))
	}

	fmt.Print("\n== sessions on record\n\n")
	list := exec.CommandContext(ctx, command, "sessions", "--signet-path", box.Signet)
	list.Stdout, list.Stderr = os.Stdout, os.Stderr
	return list.Run()
}

func open(alone bool) (*sandbox.Sandbox, error) {
	if alone {
		return sandbox.New()
	}
	return sandbox.Borrow()
}

// Register enters the proxied agent into acpx's configuration and returns the name that it has there.
func register(box *sandbox.Sandbox, agent, proxy, echo, dir string) (string, error) {
	if agent != "" {
		return "signet-" + agent, box.Register("signet-"+agent, proxy, "--agent", agent)
	}
	harness, err := absolute(echo)
	if err != nil {
		return "", err
	}
	if err := box.CopyIdentity(filepath.Join(dir, "testdata", "agents")); err != nil {
		return "", err
	}
	return "signet-echo", box.Register("signet-echo", proxy, "--agent", "echo", "--", harness)
}

// absolute is for commands that run in another folder.
func absolute(program string) (string, error) {
	if program == "" {
		return "", errors.New("-proxy and -echo must name the built programs")
	}
	return filepath.Abs(program)
}

// A conversation is acpx with one agent.
type conversation struct {
	box   *sandbox.Sandbox
	acpx  []string
	agent string
}

// Session opens a session, says one thing in it and closes it; acpx starts the agent anew for each of these.
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
