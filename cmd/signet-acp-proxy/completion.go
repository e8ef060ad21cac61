package main

import (
	"context"
	"database/sql"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// newCompletion makes the command completion of cobra's, in our words.
func newCompletion(root *cobra.Command) *cobra.Command {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // cobra has another name for it
	}
	shells := cmd.Commands()
	for _, shell := range shells {
		shell.Short, shell.Long = "Print the completion script for "+shell.Name()+".", ""
	}
	root.RemoveCommand(cmd)
	cmd.RemoveCommand(shells...)
	return group("completion", "Print a completion script for a shell.", shells...)
}

// complete sets how the value of a flag is completed. Completions make no file and no request.
func complete(cmd *cobra.Command, flag string, how cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, how); err != nil {
		panic(err) // there is no such flag, or it has one already
	}
}

// paths completes a file.
func paths(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// folders completes a folder.
func folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// settingValues completes the value of a setting.
func settingValues(name string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		s, _ := config.Named(name)
		return s.Enum, cobra.ShellCompDirectiveNoFileComp
	}
}

// agentNames completes the name of a harness that can be started here.
func agentNames(f *config.Flags) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		c, _ := config.Load(*f) // with mistakes in it too
		return slices.DeleteFunc(c.AgentNames(), func(name string) bool {
			profile, _ := c.Profile(name)
			return profile.Startable() != nil
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// harnessNames completes the name of a harness that has sessions.
func harnessNames(f *config.Flags) cobra.CompletionFunc {
	return fromDatabase(f, func(ctx context.Context, _ *config.Config, db *sql.DB) (names []cobra.Completion) {
		all, _ := correlation.New(db, correlation.Options{}).Book().Kinds(ctx)
		for _, one := range all {
			names = append(names, chars.Printable(runtime.HarnessName(one.Harness)))
		}
		slices.Sort(names)
		return slices.Compact(names)
	})
}

// backups completes a file, first the copy that an upgrade has kept.
func backups(f *config.Flags) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		c, _ := config.Load(*f)
		if file := migrations.CopyOf(c.DB); c.DB != "" && exists(file) {
			return []cobra.Completion{file}, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

const (
	completionTime = 500 * time.Millisecond // that a key press may wait for the database
	maxCompleted   = 50                     // ids that are offered, the newest
)

// delegationIDs completes the argument of commands about one delegation.
func delegationIDs(f *config.Flags) cobra.CompletionFunc {
	return newestIDs(f, func(ctx context.Context, c *config.Config, db *sql.DB) (ids []cobra.Completion) {
		all, _ := runtime.Ledger(c, db).List(ctx, maxCompleted)
		for _, d := range all {
			ids = append(ids, cobra.CompletionWithDesc(d.ID, d.Agent+", "+string(d.State)+", "+term.Local(d.Created)))
		}
		return ids
	})
}

// sessionIDs completes the argument of commands about one session.
func sessionIDs(f *config.Flags) cobra.CompletionFunc {
	return newestIDs(f, func(ctx context.Context, _ *config.Config, db *sql.DB) (ids []cobra.Completion) {
		all, _ := correlation.New(db, correlation.Options{}).Book().Sessions(ctx, maxCompleted)
		for _, s := range all {
			if s.ACPID == chars.Printable(s.ACPID) {
				ids = append(ids, cobra.CompletionWithDesc(s.ACPID,
					chars.Printable(runtime.HarnessName(s.Harness))+", "+term.Local(s.LastActive)))
			}
		}
		return ids
	})
}

// memoryIDs completes the argument of commands about one memory.
func memoryIDs(f *config.Flags) cobra.CompletionFunc {
	return newestIDs(f, func(ctx context.Context, _ *config.Config, db *sql.DB) (ids []cobra.Completion) {
		all, _ := embedded.New(db, embedded.Options{}).List(ctx, embedded.Filter{Limit: maxCompleted})
		for _, m := range all {
			words := strings.Join(strings.Fields(chars.Printable(m.Content)), " ")
			ids = append(ids, cobra.CompletionWithDesc(m.ID, chars.Cut(words, 60)))
		}
		return ids
	})
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// newestIDs completes a command's only argument by what list finds in the database.
func newestIDs(
	f *config.Flags, list func(context.Context, *config.Config, *sql.DB) []cobra.Completion,
) cobra.CompletionFunc {
	find := fromDatabase(f, list)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return find(cmd, args, typed)
	}
}

// fromDatabase completes by what list finds in the database, in this order.
func fromDatabase(
	f *config.Flags, list func(context.Context, *config.Config, *sql.DB) []cobra.Completion,
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		c, _ := config.Load(*f)
		db, err := migrations.Look(c.DB)
		if err != nil {
			return nil, directive
		}
		defer db.Close()
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		return list(ctx, c, db), directive
	}
}
