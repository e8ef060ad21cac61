package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// stdout is the protocol, or what a command was asked for. Everything else
// is for people: stderr, lower case, after "signet-acp-proxy: ", one line, no
// period at the end.
type stdio struct {
	in       *os.File
	out, err io.Writer
}

func (s stdio) say(format string, args ...any) {
	fmt.Fprintf(s.err, "signet-acp-proxy: "+format+"\n", args...)
}

// Exit codes of our own; the relay's is the harness's.
const (
	exitFailed     = 1
	exitUsage      = 2
	exitNotStarted = 127
)

// grammar is the whole command line: the relay, and the commands beside it.
func grammar(std stdio) *cobra.Command {
	var f Flags
	var version bool
	root := newRelay(&f, std)
	root.AddCommand(
		newSessions(&f, std), newShow(&f, std), newPreview(&f, std), newDoctor(&f, std), newDeliver(&f, std), newMCP(&f, std),
		newMemory(&f, std), newForget(&f, std), newPrune(&f, std), newSetup(&f, std), newConfig(&f, std), newCompletion(std),
	)
	root.SetHelpCommand(newHelp())
	common := root.PersistentFlags()
	common.SortFlags = false
	common.StringVar(&f.Memory, "memory", "", "The `SOURCE` of context: auto, daemon, embedded or off.")
	common.StringVar(&f.DaemonURL, "daemon-url", "", "The Signet daemon's `URL`.")
	common.StringVar(&f.SignetPath, "signet-path", "", "The `DIR` of identity files, configuration and database.")
	common.StringVar(&f.DB, "db", "", "The database `FILE`.")
	common.StringVar(&f.LogLevel, "log-level", "", "The log's `LEVEL`: trace, debug, info, warn, error or disabled.")
	common.StringVar(&f.LogFile, "log-file", "", "Log to this `FILE` in place of the default one; - is stderr.")
	common.BoolVar(&version, "version", false, "Print the version and exit.")
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
		fmt.Fprintln(std.out, versionName())
		return exitError{}
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetHelpFunc(printHelp)
	root.SetFlagErrorFunc(flagMisuse)
	return root
}

// Flags are the settings that every command takes. Each is also a setting of the configuration file and the environment: see Config.
type Flags struct{ Memory, DaemonURL, SignetPath, DB, LogLevel, LogFile string }

// group is a command that does nothing without one of its own commands.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " COMMAND", Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unexpected(cmd, args[0])
			}
			return misuse("expected one of %s", strings.Join(commandNames(cmd), ", "))
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

// forScripts gives a command the flag that makes it print JSON.
func forScripts(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "Print JSON for scripts.")
}

// An exitError carries an exit code to the one place that uses it. Without
// an error nothing is said.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}
func (e exitError) Unwrap() error { return e.err }

// run is the program: it obeys a command line and turns its error into lines and an exit code.
func run(args []string, std stdio) int {
	if isTerminal(std.in) {
		args = forLogin(args)
	}
	root := grammar(std)
	root.SetArgs(args)
	err := root.Execute()
	var exit exitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		for line := range strings.Lines(err.Error()) {
			std.say("%s", strings.TrimSuffix(line, "\n"))
		}
		return exitFailed
	case exit.err != nil:
		std.say("%v", exit.err)
	}
	return exit.code
}

// forLogin puts what we cannot read of a command line behind "-- --", where it is the known harness's. A client that logs in on a terminal
// runs our command line with arguments of the agent's appended (facts/acp.md, 2.1).
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

// parse reads a command line and does not obey it.
func parse(args []string) (*cobra.Command, error) {
	cmd, args, err := grammar(stdio{}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(args)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	return cmd, err
}

// isTerminal reports whether a person types into f.
func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
