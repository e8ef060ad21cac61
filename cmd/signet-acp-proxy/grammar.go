package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// A program is what the commands share: the flags that all of them take, and the streams.
type program struct {
	flags *config.Flags
	std   term.Streams
}

// onData makes the RunE of a command that works on what was recorded.
func (p program) onData(
	work func(ctx context.Context, d *runtime.Data, args []string) error,
) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		return runtime.WithData(p.flags, p.std, func(ctx context.Context, d *runtime.Data) error {
			return work(ctx, d, args)
		})
	}
}

// print prints an answer: as JSON for scripts, or as show shows it.
func (p program) print(asJSON bool, answer any, show func(term.Screen) error) error {
	if asJSON {
		return term.JSON(p.std.Out, answer)
	}
	return show(term.On(p.std.Out))
}

// printLine is print for one of many answers: JSON on a line of its own.
func (p program) printLine(asJSON bool, answer any, show func(term.Screen) error) error {
	if !asJSON {
		return show(term.On(p.std.Out))
	}
	line, err := json.Marshal(answer)
	if err == nil {
		_, err = p.std.Out.Write(append(chars.EscapeJSON(line), '\n'))
	}
	return err
}

// grammar makes the whole command line: the relay, and the commands beside it.
func grammar(std term.Streams) *cobra.Command {
	var f config.Flags
	var version bool
	p := program{&f, std}
	root := newRelay(p)
	root.AddCommand(
		newInit(p),
		newSessions(p), newLog(p), newShow(p), newHandoff(p), newView(p), newUsage(p), newEvents(p), newExport(p),
		newPreview(p), newDoctor(p),
		newAgents(p), newDelegate(p), newDelegations(p),
		newDeliver(p), newMCP(p), newMemory(p), newForget(p), newPrune(p), newBackup(p), newRestore(p),
		newSetup(p), newConfig(p), newUninstall(p), newCompletion(std), newVersion(p), newEcho(p),
	)
	root.SetHelpCommand(cli.NewHelp())
	common := root.PersistentFlags()
	common.SortFlags = false
	common.StringVar(&f.Memory, "memory", "", "The `SOURCE` of context: auto, daemon, embedded or off.")
	common.StringVar(&f.DaemonURL, "daemon-url", "", "The Signet daemon's `URL`.")
	common.StringVar(&f.SignetPath, "signet-path", "", "The `DIR` of identity files, configuration and database.")
	common.StringVar(&f.DB, "db", "", "The database `FILE`.")
	common.StringVar(&f.LogLevel, "log-level", "", "The log's `LEVEL`: trace, debug, info, warn, error or disabled.")
	common.StringVar(&f.LogFile, "log-file", "", "Log to this `FILE` in place of the default one; - is stderr.")
	common.BoolVar(&version, "version", false, "Print the version alone, and exit.")
	common.BoolP("help", "h", false, "Explain a command and its flags.")
	cli.Complete(root, "memory", cli.SettingValues("memory"))
	cli.Complete(root, "signet-path", cli.Folders)
	cli.Complete(root, "db", cli.Paths)
	cli.Complete(root, "log-level", cli.SettingValues("log_level"))
	cli.Complete(root, "log-file", cli.Paths)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)

	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if !version {
			return nil
		}
		fmt.Fprintln(std.Out, runtime.Version)
		return cli.Exit{}
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.SetHelpFunc(cli.PrintHelp)
	root.SetFlagErrorFunc(cli.FlagMisuse)
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
	root := grammar(std)
	root.SetArgs(withSigns(args))
	err := root.Execute()
	var exit cli.Exit
	var flag config.FlagError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &flag):
		exit = cli.Exit{Code: cli.Usage, Err: flag}
	case !errors.As(err, &exit):
		for line := range strings.Lines(err.Error()) {
			std.Say("%s", strings.TrimSuffix(line, "\n"))
		}
		return cli.Failed
	}
	if exit.Err != nil {
		std.Say("%v", exit.Err)
	}
	return exit.Code
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
	cmd, args, err := grammar(term.Streams{}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(args)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	return cmd, err
}
