package main

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

// arguments checks a command's arguments by its usage line: each WORD is one, a [WORD…] at the end any number.
func arguments(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	for i, name := range names {
		switch {
		case strings.HasPrefix(name, "["):
			return nil
		case i == len(args):
			return misuse("expected %s", name)
		}
	}
	if len(args) > len(names) {
		return unexpected(cmd, args[len(names)])
	}
	return nil
}

// checkArguments has the commands below one check their arguments so, but for those that have a way of their own.
func checkArguments(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Args == nil {
			cmd.Args = arguments
		}
		checkArguments(cmd)
	}
}

// atMostOne checks the argument of a command that has commands of its own, too.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return unexpected(cmd, args[0])
	}
	return nil
}

// firstOf is arguments for a command whose first argument must be one of words.
func firstOf(words []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := arguments(cmd, args); err != nil {
			return err
		}
		return oneOf(strings.Fields(cmd.Use)[1], args[0], words)
	}
}

// unexpected makes the error of an argument that a command does not take.
func unexpected(cmd *cobra.Command, arg string) error {
	return misuse("unexpected argument %q%s", arg, meant(cmd, arg))
}

// meant names the command that was probably meant, or the flag that takes an agent's name.
func meant(cmd *cobra.Command, arg string) string {
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

// flagMisuse makes the error of a flag that is not valid.
func flagMisuse(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var known []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, "--"+flag.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return misuse("unknown flag %s%s", name, config.DidYouMean(name, known))
	case errors.As(err, &invalid):
		kind := "a number"
		switch invalid.GetFlag().Value.Type() {
		case "func":
			return misuse("--%s: %w", invalid.GetFlag().Name, errors.Unwrap(invalid))
		case "bool":
			kind = "true or false"
		}
		return misuse("--%s must be %s, not %q", invalid.GetFlag().Name, kind, invalid.GetValue())
	}
	return misuse("%w", err)
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

// group makes a command that has only subcommands.
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

// oneOf returns an error for a flag or an argument whose value is not one of words.
func oneOf(name, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return misuse("%s must be one of %s, not %q", name, strings.Join(words, ", "), value)
}

// onlySince explains --since.
const onlySince = "Only since `WHEN`: a date, a time or an age (7d, 12h)."

// since adds the flag --since to a command.
func since(cmd *cobra.Command, at *time.Time, help string) {
	cmd.Flags().Func("since", help, func(when string) (err error) {
		if when != "" {
			*at, err = config.ParseWhen(when, time.Now())
		}
		return err
	})
}

// unknownAgent makes the error of a harness that is not known.
func unknownAgent(c *config.Config, name string) error {
	return exitError{exitUsage, config.UnknownAgent{Name: name, Known: c.AgentNames()}}
}
