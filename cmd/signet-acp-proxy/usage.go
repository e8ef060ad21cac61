package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// misuse is the error of a command line that cannot be read.
func misuse(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format+" (see signet-acp-proxy -h)", args...)}
}

// arguments holds a command to the arguments that its usage line names: each WORD is one, a [WORD…] at the end any
// number.
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

// firstOf is arguments for a command whose first one must be among words.
func firstOf(words []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := arguments(cmd, args); err != nil {
			return err
		}
		if !slices.Contains(words, args[0]) {
			return misuse("%s must be one of %s, not %q", strings.Fields(cmd.Use)[1], strings.Join(words, ", "), args[0])
		}
		return nil
	}
}

// unexpected is the error of an argument that a command does not take.
func unexpected(cmd *cobra.Command, arg string) error {
	return misuse("unexpected argument %q%s", arg, config.DidYouMean(arg, commandNames(cmd)))
}

// flagMisuse is the error of a flag that cannot be read.
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
		if invalid.GetFlag().Value.Type() == "bool" {
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
