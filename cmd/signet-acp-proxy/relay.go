package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// relayCommand is the program without a subcommand.
type relayCommand struct{ agent string }

func newRelay(f *Flags, std stdio) *cobra.Command {
	var r relayCommand
	cmd := &cobra.Command{
		Use: "signet-acp-proxy", Long: "Give any ACP agent a memory.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return unexpected(cmd, args[0])
			}
			return nil
		},
		ValidArgsFunction: paths, // of the command
		RunE:              func(_ *cobra.Command, command []string) error { return r.run(f, command, std) },
	}
	cmd.Flags().StringVar(&r.agent, "agent", "", "The harness by `NAME`; beside a command, what to call it.")
	complete(cmd, "agent", agentNames(f))
	return cmd
}

func (r relayCommand) run(f *Flags, command []string, std stdio) error {
	c, err := loadConfig(f)
	var exit exitError
	if errors.As(err, &exit) {
		return err
	}
	if err != nil { // an agent must start, whatever stands in a file
		std.say("%s; the defaults are used", oneLine(err))
	}
	profile, options, err := r.harness(c, command, std)
	if err != nil {
		return err
	}
	if isTerminal(std.in) {
		ended, err := upstream.OnTerminal(options)
		if err != nil {
			return exitError{exitNotStarted, err}
		}
		return exitError{code: ended.Status()}
	}
	name := r.agent
	if name == "" {
		name = profile.Name
	}
	agent := c.agent(name)
	if agent.AgentID != "" {
		c.AgentID = agent.AgentID
	}
	pumpOnly := c.Memory == "off" || !agent.Inject || c.bypassed()
	id := correlation.NewProcessID()
	if !pumpOnly {
		options.Env = withParent(withHooks(options.Env, c.Hooks), id)
	}

	debug.SetGCPercent(gcPercent)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, endSignals...)
	defer signal.Stop(signals)
	process, err := upstream.Start(options)
	if err != nil {
		return exitError{exitNotStarted, err}
	}
	o := proxy.Options{
		Client:  proxy.Client{In: std.in, Out: std.out, Talk: std.err},
		Harness: proxy.Harness{In: process.Stdin, Out: process.Stdout, Hangup: process.Hangup},
		Name:    name,
	}
	upstream.Widen(std.in)
	if out, ok := std.out.(*os.File); ok {
		upstream.Widen(out)
	}
	if !pumpOnly {
		o.Customs = customs(profile)
		b := newBackend(c, std)
		b.configure(&o, name, id)
		defer b.close()
	}
	relay := proxy.New(o)
	done := make(chan struct{})
	told := handle(signals, process, relay, done)
	err = relay.Run()
	close(done)
	ended := process.Wait()
	hurried := <-told
	if err != nil {
		std.say("%v", err)
	}
	if !hurried && !relay.ClientGone() {
		std.say("%s", obituary(options.Command, ended, process.LastStderr()))
	}
	return exitError{code: ended.Status()}
}

// gcPercent keeps the relay small: it lives beside an agent all day and has
// little to collect.
const gcPercent = 50

// harness finds the command line and the profile of what is to be started.
func (r relayCommand) harness(c *Config, command []string, std stdio) (upstream.Profile, upstream.Options, error) {
	options := upstream.Options{Stderr: std.err}
	profile, known := c.profile(r.agent)
	switch {
	case len(command) > 0 && command[0] == "--": // arguments of the agent's: see forLogin
		if !known {
			return profile, options, unknownAgent(c, r.agent)
		}
	case len(command) > 0:
		options.Command = command
		if !known {
			profile, _ = upstream.ByCommand(command)
		}
	case r.agent == "":
		return profile, options, misuse("no harness: give --agent NAME or -- COMMAND")
	case !known:
		return profile, options, unknownAgent(c, r.agent)
	}
	if err := profile.Prepare(context.Background(), &options, upstream.Limits{}); err != nil {
		return profile, options, exitError{exitNotStarted, err}
	}
	if len(command) > 0 && command[0] == "--" {
		options.Command = append(options.Command, command[1:]...)
	}
	if profile.Name == "" {
		profile.Name = filepath.Base(options.Command[0])
	}
	return profile, options, nil
}

func unknownAgent(c *Config, name string) error {
	return exitError{exitUsage, fmt.Errorf("no agent is known as %q: name one of %v, or give its command behind --", name, c.agentNames())}
}

// handle passes signals on until done is closed. The value it gives then
// says whether we were told to end. SIGINT is the terminal's to everybody in
// front of it; the client cancels over the protocol, so we stay.
func handle(signals <-chan os.Signal, p *upstream.Process, relay *proxy.Relay, done <-chan struct{}) <-chan bool {
	told := make(chan bool, 1)
	go func() {
		hurried := false
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTERM || s == hangupSignal {
					hurried = true
					p.Terminate(s)
					relay.Flush()
				}
			case <-done:
				told <- hurried
				return
			}
		}
	}()
	return told
}

// obituary says which command died, how, and its last words.
func obituary(command []string, ended upstream.Exit, last []string) string {
	text := fmt.Sprintf("the harness ended by itself: %s: %s", command[0], ended)
	for _, line := range last {
		text += "\n  " + line
	}
	return text
}
