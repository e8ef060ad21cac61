package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

func newForget(f *Flags, std stdio) *cobra.Command {
	return &cobra.Command{
		Use: "forget SESSION", Short: "Remove one conversation everywhere.", Args: arguments,
		Long:              "Remove one conversation everywhere. SESSION " + namesSession,
		ValidArgsFunction: sessionIDs(f),
		RunE:              func(_ *cobra.Command, args []string) error { return forget(args[0], f, std) },
	}
}

// forget removes one conversation.
func forget(session string, f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		s, err := d.sessions.Resolve(ctx, session)
		if err != nil {
			return err
		}
		gone, err := d.sessions.Forget(ctx, s.ID, d.memories.Unlearn)
		if err != nil {
			return err
		}
		if err := removeFiles(gone.Files); err != nil {
			return err
		}
		std.say("forgotten: %s, %s", s.ACPID, count(gone.Turns, "turn"))
		if s.Live {
			std.say("an agent still holds it: what is said from now on is not recorded")
		}
		return nil
	})
}

// pruneCommand removes old conversations.
type pruneCommand struct {
	olderThan string
	keep      int
	yes       bool
}

func newPrune(f *Flags, std stdio) *cobra.Command {
	var p pruneCommand
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old conversations that owe nothing; without --yes only say which.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return p.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.olderThan, "older-than", "", "Those last active longer than this `AGE` ago: 90d, 36h.")
	flags.IntVar(&p.keep, "keep", 0, "All but the newest `N`.")
	flags.BoolVar(&p.yes, "yes", false, "Remove them; without it nothing is changed.")
	return cmd
}

func (cmd *pruneCommand) run(f *Flags, std stdio) error {
	if cmd.olderThan == "" && cmd.keep == 0 {
		return exitError{exitUsage, errors.New("which ones? give --older-than AGE or --keep N")}
	}
	if cmd.keep < 0 {
		return exitError{exitUsage, errors.New("--keep: give a number from 1 on")}
	}
	o := correlation.PruneOptions{Keep: cmd.keep, DryRun: !cmd.yes}
	if cmd.olderThan != "" {
		age, err := parseAge(cmd.olderThan)
		if err != nil {
			return exitError{exitUsage, err}
		}
		o.Before = time.Now().Add(-age)
	}
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		o.Unlearn = d.memories.Unlearn
		all, err := d.sessions.Sessions(ctx, 0) // with their turns, which Prune does not count one by one
		if err != nil {
			return err
		}
		turns := map[int64]int{}
		for _, s := range all {
			turns[s.ID] = s.Turns
		}
		p, err := d.sessions.Prune(ctx, o)
		for i, s := range p.Sessions {
			p.Sessions[i].Turns = turns[s.ID]
		}
		if len(p.Sessions) > 0 {
			if err := sessionTable(p.Sessions).print(screenOn(std.out)); err != nil {
				return err
			}
		}
		err = errors.Join(err, removeFiles(p.Files))
		what := count(len(p.Sessions), "session") + ", " + count(p.Turns, "turn")
		switch {
		case len(p.Sessions) == 0:
			std.say("nothing to remove; what is in use or still owed stays")
		case cmd.yes:
			std.say("removed: %s", what)
		default:
			std.say("would remove %s; --yes does it", what)
		}
		return err
	})
}

// parseAge reads how old something has to be.
func parseAge(text string) (time.Duration, error) {
	age, err := parseDuration(text)
	if err != nil || age <= 0 {
		return 0, errors.New("--older-than: give an age such as 90d, 12w or 36h")
	}
	return age, nil
}
