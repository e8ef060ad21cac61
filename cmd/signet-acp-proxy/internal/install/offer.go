package install

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/notes"
)

// lookLimit is how long counting conversations may take.
const lookLimit = 5 * time.Second

// Offer says which conversations agents have written down already, and takes them in if the person agrees.
func (s Steps) Offer(ctx context.Context) error {
	const command = "signet-acp-proxy memory backfill"
	looking, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	all, whole, err := look(looking, s.Config)
	if err != nil || len(all) == 0 {
		return err
	}
	var of []string
	for _, one := range all {
		if s.imported(ctx, one.Agent) >= one.Conversations {
			continue
		}
		text := fmt.Sprintf("%d of %s", one.Conversations, one.Agent)
		if !one.Since.IsZero() {
			text += " since " + one.Since.Local().Format(time.DateOnly)
		}
		of = append(of, text)
	}
	if len(of) == 0 {
		s.skip("agents' earlier conversations are already imported")
		return nil
	}
	text := strings.Join(of, ", ")
	if !whole {
		text += ", or more"
	}
	switch {
	case s.DryRun, s.Yes, !s.Std.Interactive():
		s.skip("agents have stored conversations here: %s. To import them: %s (--dry-run only counts)",
			text, command)
		return nil
	case !s.Std.Ask("agents have stored conversations here: %s. Import them? The files are not changed", text):
		s.skip("not imported; later: %s", command)
		return nil
	}
	d, err := runtime.OpenData(ctx, s.Config, s.Std)
	if err != nil {
		return err
	}
	defer d.Close()
	progress := term.NewProgress(s.Std.Err)
	b := runtime.Backfill{Data: d, Step: progress.Share}
	got, err := b.Run(ctx, runtime.BackfillAgents(false))
	progress.Done()
	sessions, turns := 0, 0
	for _, one := range got {
		sessions, turns = sessions+one.Sessions, turns+one.Turns
	}
	if err == nil || ctx.Err() != nil {
		s.done("%s imported, with %s; to import more later: %s", term.Count(sessions, "conversation"),
			term.Count(turns, "turn"), command)
		return nil
	}
	return err
}

// writtenBy is how many conversations an agent has written down, and since when; Since is zero where none says.
type writtenBy struct {
	Agent         string
	Conversations int
	Since         time.Time
}

// look counts the conversations that could be taken in, without a database. whole is false where ctx ended before.
func look(ctx context.Context, c *config.Config) (all []writtenBy, whole bool, err error) {
	home, err := memory.Home()
	if err != nil {
		return nil, false, err
	}
	for _, agent := range runtime.BackfillAgents(false) {
		found := writtenBy{Agent: agent}
		err := backfill.Walk(ctx, backfill.Place{Home: home, Getenv: os.Getenv}, agent, backfill.Visitor{
			Skip: func(backfill.Skip) {},
			Conversation: func(one backfill.Conversation) error {
				if child, _ := one.HasParent(); child || one.Part > 0 || memory.Excluded(one.Cwd, c.Exclude) {
					return nil
				}
				found.Conversations++
				if at := one.Turns[0].Started; !at.IsZero() && (found.Since.IsZero() || at.Before(found.Since)) {
					found.Since = at
				}
				return nil
			},
		})
		if found.Conversations > 0 {
			all = append(all, found)
		}
		switch {
		case ctx.Err() != nil:
			return all, false, nil
		case err != nil:
			return all, false, err
		}
	}
	return all, true, nil
}

// imported counts the conversations that were imported from an agent's history.
func (s Steps) imported(ctx context.Context, agent string) int {
	db, err := migrations.Look(s.Config.DB)
	if err != nil {
		return 0
	}
	defer db.Close()
	ids, _ := correlation.New(db, correlation.Options{}).Book().Imported(ctx, correlation.Backfill+agent)
	return len(ids)
}

// WantsNotes asks whether agents are to note their sessions, and says what that costs. Nobody is asked where it is set
// already, or where it cannot be done.
func (s Steps) WantsNotes() bool {
	if s.Config.Source("notes") != "default" || notes.Refused() != nil {
		return false
	}
	if !s.Yes && s.Std.Interactive() {
		s.say("An agent can note, after each session, what was decided and found in it, for the next one. This uses "+
			"your account with the agent: up to 12,000 tokens a session, %d sessions a day.", s.Config.NotesLimit)
		if s.Std.Ask("have agents write notes?") {
			return true
		}
	}
	s.skip("no notes of sessions; later: signet-acp-proxy config set notes agent (up to 12,000 tokens a session)")
	return false
}
