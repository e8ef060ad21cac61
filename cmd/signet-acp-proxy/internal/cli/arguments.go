// Package cli is what the commands have in common: how arguments and flags are checked, completed and explained, and
// with which exit code a command ends. It knows no command.
package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Misuse makes the error of a command line that is not valid.
func Misuse(format string, args ...any) error {
	return Exit{Usage, fmt.Errorf(format+" (see signet-acp-proxy -h)", args...)}
}

// Arguments checks a command's arguments by its usage line: each WORD is one, a [WORD…] at the end any number.
func Arguments(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	for i, name := range names {
		switch {
		case strings.HasPrefix(name, "["):
			return nil
		case i == len(args):
			return Misuse("expected %s", name)
		}
	}
	if len(args) > len(names) {
		return Unexpected(cmd, args[len(names)])
	}
	return nil
}

// AtMostOne checks the argument of a command that has commands of its own, too.
func AtMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Unexpected(cmd, args[0])
	}
	return nil
}

// FirstOf is Arguments for a command whose first argument must be one of words.
func FirstOf(words []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := Arguments(cmd, args); err != nil {
			return err
		}
		return OneOf(strings.Fields(cmd.Use)[1], args[0], words)
	}
}

// Unexpected makes the error of an argument that a command does not take.
func Unexpected(cmd *cobra.Command, arg string) error {
	return Misuse("unexpected argument %q%s", arg, Meant(cmd, arg))
}

// Meant names the command that was probably meant, or the flag that takes an agent's name.
func Meant(cmd *cobra.Command, arg string) string {
	if !cmd.HasParent() {
		if command, ok := synonyms[strings.ToLower(arg)]; ok {
			return fmt.Sprintf(", did you mean %q?", command)
		}
		if _, known := upstream.Lookup(arg); known {
			return fmt.Sprintf(", did you mean \"--agent %s\"?", arg)
		}
	}
	return config.DidYouMean(arg, commandNames(cmd))
}

// synonyms are words that other programs have for what our commands do.
var synonyms = map[string]string{
	"search": "memory search", "find": "memory search", "recall": "memory search", "grep": "memory search",
	"add": "memory add", "remember": "memory add", "memories": "memory list", "rules": "memory list --rules",
	"import": "memory import", "backfill": "memory backfill",
	"history": "sessions", "list": "sessions", "ls": "sessions", "conversations": "sessions",
	"cat": "log", "transcript": "log", "print": "log",
	"status": "doctor", "check": "doctor", "health": "doctor", "diagnose": "doctor",
	"install": "init", "start": "init", "open": "view", "ui": "view", "web": "view", "dashboard": "view",
	"stats": "usage", "cost": "usage", "tokens": "usage", "settings": "help settings", "get": "config get",
	"set": "config set", "remove": "forget", "delete": "forget", "rm": "forget", "undo": "forget --undo",
	"continue": "handoff", "resume": "handoff", "clean": "prune", "serve": "mcp", "ask": "delegate",
}

// FlagMisuse makes the error of a flag that is not valid.
func FlagMisuse(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var known []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, "--"+flag.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return Misuse("unknown flag %s%s", name, config.DidYouMean(name, known))
	case errors.As(err, &invalid):
		kind := "a number"
		switch invalid.GetFlag().Value.Type() {
		case "func":
			return Misuse("--%s: %w", invalid.GetFlag().Name, errors.Unwrap(invalid))
		case "bool":
			kind = "true or false"
		}
		return Misuse("--%s must be %s, not %q", invalid.GetFlag().Name, kind, invalid.GetValue())
	}
	return Misuse("%w", err)
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// Group makes a command that has only subcommands.
func Group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " COMMAND", Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Unexpected(cmd, args[0])
			}
			return Misuse("expected one of %s", strings.Join(commandNames(cmd), ", "))
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

// ForScripts adds the flag --json to a command.
func ForScripts(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "Print JSON for scripts.")
}

// OneOf returns an error for a flag or an argument whose value is not one of words.
func OneOf(name, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return Misuse("%s must be one of %s, not %q", name, strings.Join(words, ", "), value)
}

// OnlySince explains --since.
const OnlySince = "Only since `WHEN`: a date, a time or an age (7d, 12h)."

// Since adds the flag --since to a command.
func Since(cmd *cobra.Command, at *time.Time, help string) {
	cmd.Flags().Func("since", help, func(when string) (err error) {
		if when != "" {
			*at, err = config.ParseWhen(when, time.Now())
		}
		return err
	})
}

// UnknownAgent makes the error of a harness that is not known.
func UnknownAgent(c *config.Config, name string) error {
	return Exit{Usage, config.UnknownAgent{Name: name, Known: c.AgentNames()}}
}
