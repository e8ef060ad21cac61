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

// noteRuns notes when one of the commands runs; what is wrong before that is wrong with the command line. A command
// takes the arguments that its usage names.
func noteRuns(cmd *cobra.Command, running *bool) {
	for _, sub := range cmd.Commands() {
		if sub.Args == nil {
			_, names, _ := strings.Cut(sub.Use, " ")
			sub.Args = takes(names)
		}
		noteRuns(sub, running)
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*running = true
			return run(cmd, args)
		}
	}
}

// takes makes the check for arguments that are named as in a usage: "ID [NOTE…]" is one, and as many more as there are.
func takes(names string) cobra.PositionalArgs {
	all := strings.Fields(strings.ReplaceAll(names, "-- ", ""))
	return func(_ *cobra.Command, args []string) error {
		for i, name := range all {
			if i >= len(args) && !strings.HasPrefix(name, "[") {
				return fmt.Errorf("%s is missing", strings.TrimSuffix(name, "…"))
			}
		}
		if last := len(all) - 1; len(args) > len(all) && (last < 0 || !strings.Contains(all[last], "…")) {
			return fmt.Errorf("unexpected argument %q", args[len(all)])
		}
		return nil
	}
}

// noCommand makes the error of a word that is no command of one that has some. It names the command that was probably
// meant, or the flag that takes an agent's name.
func noCommand(cmd *cobra.Command, word string) error {
	return fmt.Errorf("unknown command %q%s", word, meant(cmd, word))
}

func meant(cmd *cobra.Command, word string) string {
	if _, known := upstream.Lookup(word); known && !cmd.HasParent() {
		return fmt.Sprintf(", did you mean \"--agent %s\"?", word)
	}
	cmd.SuggestionsMinimumDistance = 2
	likely := cmd.SuggestionsFor(word)
	for _, sub := range cmd.Commands() {
		for _, name := range sub.SuggestionsFor(word) {
			likely = append(likely, sub.Name()+" "+name)
		}
	}
	if len(likely) == 0 {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", likely[0])
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
		return fmt.Errorf("unknown flag %s%s", name, config.DidYouMean(name, known))
	case errors.As(err, &invalid):
		kind := "a number"
		switch invalid.GetFlag().Value.Type() {
		case "func":
			return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, errors.Unwrap(invalid))
		case "bool":
			kind = "true or false"
		}
		return fmt.Errorf("--%s must be %s, not %q", invalid.GetFlag().Name, kind, invalid.GetValue())
	}
	return err
}

// group makes a command that has only subcommands.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " COMMAND", Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return errors.New("a command is missing")
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never: Args says what is wrong
	}
	cmd.AddCommand(commands...)
	return cmd
}

// oneOf returns an error for a flag or an argument whose value is not one of words.
func oneOf(name, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%s must be one of %s, not %q", name, strings.Join(words, ", "), value)
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
	return exitError{exitUsage, config.UnknownAgent(name, c.AgentNames())}
}
