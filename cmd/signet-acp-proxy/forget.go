package main

import (
	"context"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// forgetCommand removes one conversation.
type forgetCommand struct {
	Session string `arg:"" help:"ACP session id, Signet key, acpx record, or the unique beginning of one."`
}

func (cmd *forgetCommand) Run(f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		s, err := d.sessions.Resolve(ctx, cmd.Session)
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
	OlderThan string `placeholder:"AGE" help:"Those last active longer ago: 90d, 36h."`
	Keep      int    `placeholder:"N" help:"All but the newest N."`
	Yes       bool   `help:"Remove them; without it nothing is changed."`
}

func (cmd *pruneCommand) Run(f *Flags, std stdio) error {
	if cmd.OlderThan == "" && cmd.Keep == 0 {
		return exitError{exitUsage, errors.New("which ones? give --older-than AGE or --keep N")}
	}
	if cmd.Keep < 0 {
		return exitError{exitUsage, errors.New("--keep: give a number from 1 on")}
	}
	o := correlation.PruneOptions{Keep: cmd.Keep, DryRun: !cmd.Yes}
	if cmd.OlderThan != "" {
		age, err := parseAge(cmd.OlderThan)
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
		case cmd.Yes:
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
