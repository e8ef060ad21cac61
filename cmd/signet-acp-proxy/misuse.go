package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// misuse is the error of a command line that cannot be read.
func misuse(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format+" (see signet-acp-proxy -h)", args...)}
}

// arguments holds a command to the arguments that its usage line names: each WORD is one, a [WORD…] at the end any number.
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
	return misuse("unexpected argument %q%s", arg, didYouMean(arg, commandNames(cmd)))
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
		return misuse("unknown flag %s%s", name, didYouMean(name, known))
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

// didYouMean names the word that was probably meant, if one is like the wrong one.
func didYouMean(wrong string, words []string) string {
	likely := slices.DeleteFunc(words, func(word string) bool {
		return !strings.HasPrefix(word, wrong) && distance(word, wrong) > len(strings.TrimLeft(wrong, "-"))/2
	})
	if len(likely) == 0 {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", nearest(wrong, likely))
}

// nearest finds the word that is most like a wrong one.
func nearest(wrong string, words []string) string {
	best, least := "", 1<<30
	for _, word := range words {
		if d := distance(wrong, word); d < least {
			best, least = word, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
