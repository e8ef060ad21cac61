package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-isatty"
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

// relayLine is the command line of the relay. It is parsed alone where no word
// names a command, for building the grammar of them all takes a start's time.
type relayLine struct {
	Flags

	Version kong.VersionFlag `help:"Print the version and exit."`

	Relay relayCommand `cmd:"" default:"withargs" hidden:"" help:"Relay between the client on stdin and stdout and a harness."`
}

// cli is the whole command line. Every field of Flags is also a setting of the
// configuration file and the environment: see Config.
type cli struct {
	relayLine

	Sessions   sessionsCommand   `cmd:"" help:"List sessions, newest first."`
	Show       showCommand       `cmd:"" help:"Show a session: its ids, what was injected, what was delivered."`
	Preview    previewCommand    `cmd:"" help:"Print what would be injected now; nothing is recorded."`
	Doctor     doctorCommand     `cmd:"" help:"Look for what is wrong; exit 1 if something is."`
	Deliver    deliverCommand    `cmd:"" help:"Hand over what sessions have left, to the daemon and to on_session_end."`
	MCP        mcpCommand        `cmd:"" name:"mcp" help:"Serve the memory tools over stdin and stdout, as an MCP server."`
	Memory     memoryCommand     `cmd:"" help:"Look into and change the memories of this machine."`
	Forget     forgetCommand     `cmd:"" help:"Remove one conversation everywhere."`
	Prune      pruneCommand      `cmd:"" help:"Remove old conversations that owe nothing; without --yes only say which."`
	Setup      setupCommand      `cmd:"" help:"Put agents with a memory into a client's configuration."`
	Config     configCommand     `cmd:"" help:"Look into the configuration."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
}

// Flags are the settings that every command takes.
type Flags struct {
	Memory     string `placeholder:"auto|daemon|embedded|off" help:"Where context comes from."`
	DaemonURL  string `name:"daemon-url" placeholder:"URL" help:"The Signet daemon."`
	SignetPath string `name:"signet-path" placeholder:"DIR" help:"Identity files, configuration and database."`
	DB         string `name:"db" placeholder:"FILE" help:"The database."`
	LogLevel   string `name:"log-level" placeholder:"LEVEL" help:"trace, debug, info, warn, error or disabled."`
	LogFile    string `name:"log-file" placeholder:"FILE" help:"Log here in place of the default log; - is stderr."`
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

// run is the program: it parses, runs the command and turns its error into a line and an exit code.
func run(args []string, std stdio) int {
	var c cli
	grammar := any(&c)
	if !namesCommand(args) {
		grammar = &c.relayLine
	}
	exited := -1
	parser, err := kong.New(grammar,
		kong.Name("signet-acp-proxy"),
		kong.Description(description),
		kong.Vars{"version": versionName()},
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { exited = code }),
		kong.Help(printHelp),
		kong.Bind(std),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		std.say("%v", err)
		return exitFailed
	}
	ctx, harness, err := parse(parser, args, std)
	if exited >= 0 { // -h and --version
		return exited
	}
	if err != nil {
		std.say("%v (see signet-acp-proxy -h)", err)
		return exitUsage
	}
	err = ctx.Run(&c.Flags, harness)
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

// namesCommand reports whether a word in front of -- may be a command, or asks for help.
func namesCommand(args []string) bool {
	commands := reflect.TypeFor[cli]()
	for _, arg := range args {
		if arg == "--" {
			break
		}
		if arg == "-h" || arg == "--help" {
			return true
		}
		for i := range commands.NumField() {
			if strings.EqualFold(arg, commands.Field(i).Name) {
				return true
			}
		}
	}
	return false
}

// harnessArgs is the command line behind --, or what a client appended to ours.
type harnessArgs []string

// parse reads the command line. What stands behind -- is the harness's.
//
// A client that logs in on a terminal runs our command line with arguments
// of the agent's appended (facts/acp.md, 2.1): on a terminal, what we cannot read
// goes to the harness.
func parse(parser *kong.Kong, args []string, std stdio) (*kong.Context, harnessArgs, error) {
	ours, harness := args, harnessArgs(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		ours, harness = args[:i], harnessArgs(args[i+1:])
	}
	ctx, err := parser.Parse(ours)
	if err == nil {
		if len(harness) > 0 && ctx.Command() != "relay" {
			ctx, err = parser.Parse(args)
			harness = nil
		}
		return ctx, harness, err
	}
	if harness == nil && isTerminal(std.in) {
		for n := len(args) - 1; n > 0; n-- {
			if ctx, shorter := parser.Parse(args[:n]); shorter == nil && ctx.Command() == "relay" {
				return ctx, harnessArgs(append([]string{"--"}, args[n:]...)), nil
			}
		}
	}
	return nil, nil, err
}

// isTerminal reports whether a person types into f.
func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
