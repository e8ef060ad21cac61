package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// grammar makes the whole command line: the relay, and the commands beside it. running becomes true when one runs.
func grammar(std term.Streams, running *bool) *cobra.Command {
	var f config.Flags
	var version bool
	p := program{&f, new(bool), std}
	root := newRelay(p)
	root.AddCommand(
		newInit(p),
		newSessions(p), newLog(p), newShow(p), newHandoff(p), newView(p), newUsage(p), newEvents(p),
		newPreview(p), newDoctor(p),
		newAgents(p), newDelegate(p), newDelegations(p),
		newDeliver(p), newMCP(p), newMemory(p), newNotes(p), newForget(p), newPrune(p), newBackup(p), newRestore(p),
		newSetup(p), newConfig(p), newUninstall(p), newVersion(p),
	)
	root.AddCommand(newCompletion(root))
	explain(root, std)
	noteRuns(root, running)
	common := root.PersistentFlags()
	common.SortFlags = false
	common.StringVar(&f.Memory, "memory", "", "The `SOURCE` of context: auto, daemon, embedded or off.")
	common.StringVar(&f.DaemonURL, "daemon-url", "", "The Signet daemon's `URL`.")
	common.StringVar(&f.SignetPath, "signet-path", "", "The `DIR` of identity files, configuration and database.")
	common.StringVar(&f.DB, "db", "", "The database `FILE`.")
	common.StringVar(&f.LogLevel, "log-level", "", "The log's `LEVEL`: trace, debug, info, warn, error or disabled.")
	common.StringVar(&f.LogFile, "log-file", "", "Log to `FILE` instead; - is stderr.")
	common.BoolVar(&version, "version", false, "Print the version only.")
	common.BoolP("help", "h", false, "Explain a command and its flags.")
	complete(root, "memory", settingValues("memory"))
	complete(root, "signet-path", folders)
	complete(root, "db", paths)
	complete(root, "log-level", settingValues("log_level"))
	complete(root, "log-file", paths)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)

	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if !version {
			return nil
		}
		fmt.Fprintln(std.Out, runtime.Version)
		return exitError{}
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.SetFlagErrorFunc(flagMisuse)
	return root
}

// run executes a command line, prints its error and returns the exit code.
func run(args []string, std term.Streams) int {
	if term.IsTerminal(std.In) {
		args = forLogin(args)
	}
	if slices.Equal(args, []string{"-v"}) {
		args = []string{"version"}
	}
	running := false
	root := grammar(std, &running)
	root.SetArgs(withSigns(args))
	cmd, err := root.ExecuteC()
	var exit exitError
	var flag config.FlagError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &flag):
		exit = exitError{exitUsage, flag}
	case errors.As(err, &exit):
	case !running:
		exit = exitError{exitUsage, fmt.Errorf("%w (see %s -h)", err, cmd.CommandPath())}
	default:
		for line := range strings.Lines(err.Error()) {
			std.Say("%s", strings.TrimSuffix(line, "\n"))
		}
		return exitFailed
	}
	if exit.err != nil {
		std.Say("%v", exit.err)
	}
	return exit.code
}

// forLogin puts the part of a command line that we do not know after "-- --", where it is arguments of the harness. A
// client that logs in on a terminal runs our command line with the agent's arguments appended (docs/facts/acp.md,
// "Starting and logging in").
func forLogin(args []string) []string {
	if slices.Contains(args, "--") {
		return args
	}
	for n := len(args); n > 0; n-- {
		cmd, err := parse(args[:n])
		switch {
		case err != nil:
		case n == len(args):
			return args
		case !cmd.HasParent():
			return slices.Concat(args[:n], []string{"--", "--"}, args[n:])
		}
	}
	return args
}

// parse parses a command line without executing it.
func parse(args []string) (*cobra.Command, error) {
	cmd, args, err := grammar(term.Streams{}, new(bool)).Find(args)
	if err == nil {
		err = cmd.ParseFlags(args)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	return cmd, err
}
