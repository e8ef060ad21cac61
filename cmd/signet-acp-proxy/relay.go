package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// newRelay makes the program without a subcommand.
func newRelay(p program) *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use: "signet-acp-proxy", Long: "Give any ACP agent a memory.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return noCommand(cmd, args[0])
			}
			return nil
		},
		ValidArgsFunction: paths, // of the command
		RunE:              func(_ *cobra.Command, command []string) error { return p.startRelay(agent, command) },
	}
	cmd.Flags().StringVar(&agent, "agent", "", "The agent's `NAME`; with COMMAND, any name for it.")
	complete(cmd, "agent", agentNames(p.flags))
	return cmd
}

// startRelay relays to the harness, by its name, its command or both; on a terminal it only starts the harness.
func (p program) startRelay(name string, command []string) error {
	c, err := config.Load(*p.flags)
	var flag config.FlagError
	switch { // the agent must start, whatever else is wrong with the configuration
	case errors.As(err, &flag):
		return err
	case errors.Is(err, config.ErrNoFolder):
		if p.flags.Memory != "off" && !runtime.Bypassed(c) {
			p.std.Say("%v", err)
		}
	case err != nil:
		p.std.Say("%s; the defaults are used", oneLine(err))
	}
	if delegation.Inside(os.Getenv) == "" { // else they may stand as the reason of its failure
		for _, warning := range c.Warnings {
			p.std.Line(warning)
		}
	}
	options := upstream.Options{Stderr: p.std.Err}
	profile, called, err := runtime.Harness(c, name, command, &options)
	switch {
	case errors.Is(err, runtime.ErrNoHarness), errors.Is(err, runtime.ErrNoDefault):
		return misuse("%w", err)
	case errors.Is(err, upstream.ErrNotStarted):
		return exitError{exitNotStarted, err}
	case err != nil:
		return unknownAgent(c, name)
	}
	if steered := options.Steered(); steered != "" {
		p.std.Line(steered)
	}
	if term.IsTerminal(p.std.In) {
		p.std.Say("on a terminal this is %s itself, for logging in, without memory; for memory start it from a client "+
			"(signet-acp-proxy setup -h)", options.Command[0])
		ended, err := upstream.OnTerminal(options)
		if err != nil {
			return exitError{exitNotStarted, err}
		}
		return exitError{code: ended.Status()}
	}
	return relayTo(c, profile, called, options, p.std)
}

// relayTo starts a harness and relays to it. Its error is an Exit with the harness's status.
func relayTo(
	c *config.Config, profile upstream.Profile, name string, options upstream.Options, std term.Streams,
) error {
	agent := c.Agent(name)
	if agent.AgentID != "" {
		c.AgentID = agent.AgentID
	}
	pumpOnly := c.Memory == "off" || !agent.Inject || runtime.Bypassed(c)
	id := correlation.NewProcessID()
	if !pumpOnly {
		options.Env = runtime.WithParent(runtime.WithHooks(options.Env, c.Hooks), id)
	}
	command := options.Command
	release, err := runtime.Bind(c, profile, name, &options)
	if err != nil {
		return exitError{exitNotStarted, err}
	}
	defer release()

	stderr := term.NewStderr(std.Err) // clients may not read it
	defer stderr.Finish()
	std.Err = stderr
	signals := make(chan os.Signal, 8)
	// Handled, not ignored: the harness would ignore it, too.
	signal.Notify(signals, append(slices.Clone(endSignals), syscall.SIGPIPE)...)
	defer signal.Stop(signals)
	process, err := upstream.Start(options)
	if err != nil {
		return exitError{exitNotStarted, err}
	}
	o := proxy.Options{
		Client:  proxy.Client{In: std.In, Out: std.Out, Stderr: std.Err},
		Harness: proxy.Harness{In: process.Stdin, Out: process.Stdout, Hangup: process.Hangup},
		Name:    name,
	}
	upstream.Widen(std.In)
	if out, ok := std.Out.(*os.File); ok {
		upstream.Widen(out)
	}
	if !pumpOnly {
		b := runtime.NewBackend(c, std, id, runtime.Started{Name: name, Profile: profile, ID: process.Pid()})
		guard.Run("setting memory up", func() { o = b.Options(o) })
		defer guard.Run("closing", b.Close)
	}
	relay := proxy.New(o)
	done := make(chan struct{})
	told := handle(signals, process, relay, done)
	err = relay.Run()
	close(done)
	ended := process.Wait()
	hurried := <-told
	if err != nil {
		std.Say("%v", err)
	}
	if !hurried && !relay.ClientGone() {
		std.Say("%s", harnessEnd(command, ended, process.LastStderr()))
	}
	return exitError{code: ended.Status()}
}

// exitAfter is how long after being told to end we exit even if nobody reads our output: supervisors kill after two
// seconds or more.
const exitAfter = 1800 * time.Millisecond

// handle passes signals on to the harness until done is closed, and then returns whether we were told to end. A
// terminal sends SIGINT to everybody, and the client cancels over the protocol, so SIGINT does not end us.
func handle(signals <-chan os.Signal, p *upstream.Process, relay *proxy.Relay, done <-chan struct{}) <-chan bool {
	told := make(chan bool, 1)
	guard.Go("signals", func() {
		hurried := false
		var late <-chan time.Time
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTERM || s == syscall.SIGHUP {
					if !hurried {
						late = time.After(exitAfter)
					}
					hurried = true
					p.Terminate(s)
					guard.Go("flush", relay.Flush)
				}
			case <-late: // nobody reads what we write; what was said is on disk
				os.Exit(128 + int(syscall.SIGTERM))
			case <-done:
				told <- hurried
				return
			}
		}
	})
	return told
}

// harnessEnd says that the harness ended by itself: which command, how, and its last words.
func harnessEnd(command []string, ended upstream.Exit, last []string) string {
	text := fmt.Sprintf("the agent exited: %s: %s", command[0], ended)
	for _, line := range last {
		text += "\n  " + line
	}
	return text
}

// oneLine folds an error that names several mistakes.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
