package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
)

// onDelegation works on a delegation; more are the arguments behind its id.
type onDelegation func(ctx context.Context, d *runtime.Data, a runtime.Asked, more []string) error

// newDelegations makes the commands about what agents have asked of one another.
func newDelegations(p program) *cobra.Command {
	var follow bool
	var timeout time.Duration
	list := p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
		if follow {
			ctx, stop := untilTold(ctx)
			defer stop()
			return p.followDelegations(ctx, d)
		}
		all, err := d.Delegations(ctx)
		if err != nil {
			return err
		}
		return p.print(all, func(s term.Screen) error {
			if len(all) == 0 {
				p.std.Say("no delegated tasks yet; signet-acp-proxy delegate TASK asks an agent")
				return nil
			}
			return report.Delegations(all, s)
		})
	})
	cmd := &cobra.Command{
		Use:   "delegations [ID]",
		Short: "List delegated tasks, newest first, or show one.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return list(cmd, args)
			}
			err := p.withDelegation(p.showDelegation)(cmd, args)
			if errors.Is(err, delegation.ErrNotFound) {
				err = fmt.Errorf("%w%s", err, meant(cmd, args[0]))
			}
			return err
		},
		ValidArgsFunction: delegationIDs(p.flags),
	}
	wait := func(ctx context.Context, _ *runtime.Data, a runtime.Asked, _ []string) error {
		progress := term.NewProgress(p.std.Err)
		ended, err := a.Wait(ctx, a.ID, timeout,
			func(now delegation.Delegation) { progress.Step(now.Agent + ": " + now.Progress) })
		progress.Done()
		if err == nil && !ended.State.Ended() {
			err = fmt.Errorf("%s has not ended yet: %s", ended.ID, ended.Progress)
		}
		if err != nil {
			return err
		}
		row := ended.Row()
		return p.print(row, func(term.Screen) error { return report.Delegated(runtime.Delegated{Row: row}, p.std) })
	}
	log := func(ctx context.Context, d *runtime.Data, a runtime.Asked, _ []string) error {
		if follow {
			return p.followDelegation(ctx, d, a)
		}
		s, err := a.Child(ctx, d)
		if err != nil {
			return err
		}
		return p.printConversation(ctx, d, s)
	}
	waiting := p.aboutDelegation("wait ID", "Wait until the task ends, and print its last message.", wait)
	waiting.Flags().DurationVar(&timeout, "timeout", 24*time.Hour, "Wait no longer than this `DURATION`.")
	logging := p.aboutDelegation("log ID", "Print the task's conversation.", log)
	logging.Flags().BoolVar(&follow, "follow", false, "Keep printing until the task ends.")
	cmd.Flags().BoolVar(&follow, "follow", false, "Keep printing progress until you press Ctrl-C.")
	cmd.Flags().Lookup("follow").Hidden = true // watch does it for people
	var applied applying
	apply := p.aboutDelegation("apply ID", "Apply the changes to the caller's folder, or none on conflict.",
		takingBack(p.applyDelegation(&applied)))
	apply.Args = applied.args
	apply.Long += " Files that would run or steer programs there (settings of agents and editors, instructions to " +
		"agents, hooks, CI, new package scripts, links that lead out) are listed and held back; the exit code is then 1."
	apply.Flags().BoolVar(&applied.Steering, "with-settings", false, "Also apply files that were held back.")
	apply.Flags().BoolVar(&applied.checked, "checked", false, "Apply only if the last check passed.")
	apply.Flags().StringArrayVar(&applied.Only, "only", nil, "Apply only the changes at `PATH…`.")
	checking := p.aboutDelegation("check ID -- COMMAND…", "Run a command on the changes, such as the tests.",
		takingBack(p.checkDelegation))
	forScripts := []*cobra.Command{
		p.aboutDelegation("show ID", "Show the task, its changes, refusals and last message.",
			p.showDelegation),
		apply, checking,
		p.aboutDelegation("discard ID", "Discard the changes and the folder.", takingBack(p.discardDelegation)),
		p.aboutDelegation("cancel ID", "Cancel the task, and wait until it has ended.", p.cancelDelegation),
		waiting, logging,
	}
	for _, c := range forScripts {
		cmd.AddCommand(p.forScripts(c))
	}
	tell := p.aboutDelegation("tell ID TEXT…", "Send the agent another prompt.",
		p.tellDelegation)
	verdict := p.aboutDelegation("verdict ID N [NOTE…]",
		"Rate the result: N from -1 (harmful) to 1 (helpful).", storeVerdict)
	cmd.AddCommand(verdict, tell, p.newWatch(),
		p.aboutDelegation("diff ID", "Print the changes as a patch for git apply.", p.printPatch))
	return p.forScripts(cmd)
}

// withDelegation makes the RunE of a command about the delegation that its first argument names.
func (p program) withDelegation(work onDelegation) func(*cobra.Command, []string) error {
	return p.onData(func(ctx context.Context, d *runtime.Data, args []string) error {
		ctx, stop := untilTold(ctx)
		defer stop()
		a, err := d.Asked(ctx, args[0])
		if err != nil {
			return err
		}
		return work(ctx, d, a, args[1:])
	})
}

// aboutDelegation makes a command about one delegation.
func (p program) aboutDelegation(use, short string, work onDelegation) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short,
		Long: short + " ID is a delegation's id, or at least six " +
			"characters of its beginning or end that are unique.",

		ValidArgsFunction: delegationIDs(p.flags),
		RunE:              p.withDelegation(work),
	}
}

func (p program) showDelegation(ctx context.Context, _ *runtime.Data, a runtime.Asked, _ []string) error {
	stat, applied, err := a.Stat(ctx, a.Delegation)
	if err != nil {
		return err
	}
	shown := runtime.ShownDelegation{Row: a.Row(), DiffStat: stat, Applied: applied}
	return p.print(shown, func(s term.Screen) error { report.Delegation(shown, s); return nil })
}

// takingBack is work on what a task has made. What a delegated agent makes, its caller takes back with its own work.
func takingBack(work onDelegation) onDelegation {
	return func(ctx context.Context, d *runtime.Data, a runtime.Asked, more []string) error {
		if a.Who.Inside != "" {
			return errors.New("a delegated agent cannot check, apply or discard changes; its caller can")
		}
		return work(ctx, d, a, more)
	}
}

// applying is what apply is told.
type applying struct {
	worktree.ApplyOptions
	checked bool
}

// args takes more paths behind the id, after --only.
func (o *applying) args(cmd *cobra.Command, args []string) error {
	if len(o.Only) == 0 {
		return takes("ID")(cmd, args)
	}
	return takes("ID [PATH…]")(cmd, args)
}

// applyDelegation makes the work of apply.
func (p program) applyDelegation(o *applying) onDelegation {
	return func(ctx context.Context, _ *runtime.Data, a runtime.Asked, more []string) error {
		if len(o.Only) > 0 {
			o.Only = append(o.Only, more...)
		}
		files, held, err := a.Apply(ctx, a.Delegation, o.checked, o.ApplyOptions)
		if err != nil {
			return err
		}
		answer := map[string]any{"id": a.ID, "files": append([]string{}, files...),
			"heldBack": append([]worktree.Held{}, held...)}
		err = p.print(answer, func(s term.Screen) error {
			if len(files)+len(held) == 0 {
				p.std.Say("nothing to apply: the changes are already there")
			}
			for _, file := range files {
				fmt.Fprintln(s.W, chars.Printable(file))
			}
			for _, h := range held {
				p.std.Say("held back: %s (%s)", chars.Printable(h.File), chars.Printable(h.Why))
			}
			return nil
		})
		if err != nil || len(held) == 0 {
			return err
		}
		return fmt.Errorf("%s held back, the rest is applied: look at delegations diff %s, then apply it with "+
			"--with-settings", term.Count(len(held), "change"), a.ID)
	}
}

// checkDelegation runs a command and prints how that ended; its exit code is ours only where it is no success.
func (p program) checkDelegation(ctx context.Context, d *runtime.Data, a runtime.Asked, words []string) error {
	command := words[0]
	if len(words) > 1 {
		for i := range words {
			words[i] = chars.ShellWord(words[i])
		}
		command = strings.Join(words, " ")
	}
	c, err := a.Check(ctx, d, command)
	if err == nil {
		err = p.print(c, func(s term.Screen) error { return report.Check(c, s) })
	}
	if err == nil && c.Exit != 0 {
		err = fmt.Errorf("the check failed: exit %d", c.Exit)
	}
	return err
}

func (p program) discardDelegation(ctx context.Context, _ *runtime.Data, a runtime.Asked, _ []string) error {
	if err := a.Discard(ctx, a.Delegation); err != nil {
		return err
	}
	a.Folder, a.Branch = "", ""
	return p.print(a.Row(), func(term.Screen) error { p.std.Say("discarded: %s", a.ID); return nil })
}

func (p program) cancelDelegation(ctx context.Context, _ *runtime.Data, a runtime.Asked, _ []string) error {
	row, err := a.End(ctx)
	if err != nil {
		return err
	}
	return p.print(row, func(term.Screen) error { p.std.Say("%s is %s", row.ID, row.State); return nil })
}

func (p program) printPatch(ctx context.Context, _ *runtime.Data, a runtime.Asked, _ []string) error {
	if !term.IsPerson(p.std.Out) {
		return a.Diff(ctx, a.Delegation, p.std.Out)
	}
	var patch bytes.Buffer
	if err := a.Diff(ctx, a.Delegation, &patch); err != nil {
		return err
	}
	return term.Page(p.std.Out, func(s term.Screen) error {
		_, err := fmt.Fprintln(s.W, term.Visible(strings.TrimSuffix(patch.String(), "\n")))
		return err
	})
}

// followDelegation prints entries of its conversation as they become whole, until it has ended.
func (p program) followDelegation(ctx context.Context, d *runtime.Data, a runtime.Asked) error {
	printed := 0
	return every(ctx, func() (ended bool, err error) {
		now, err := d.Asked(ctx, a.ID)
		if err != nil {
			return false, err
		}
		ended = now.State.Ended()
		s, err := now.Child(ctx, d)
		if err != nil && !ended { // it comes
			return false, nil
		}
		var said []runtime.Entry
		if err == nil {
			said, err = d.Conversation(ctx, s.ID)
		}
		if err != nil {
			return false, err
		}
		whole := len(said)
		if !ended && whole > 0 { // the last one is still being said
			whole--
		}
		for ; printed < whole; printed++ {
			e := said[printed]
			err := p.printLine(e, func(screen term.Screen) error { return report.Said(e, s, screen) })
			if err != nil {
				return false, err
			}
		}
		return ended, nil
	})
}

// followDelegations prints what each delegation does, as it changes, until it is interrupted. Of those that have ended
// before nothing is to come.
func (p program) followDelegations(ctx context.Context, d *runtime.Data) error {
	var printed map[string]string
	return every(ctx, func() (bool, error) {
		all, err := d.Delegations(ctx)
		if err != nil {
			return false, err
		}
		first := printed == nil
		if first {
			printed = map[string]string{}
		}
		for _, row := range slices.Backward(all) { // the oldest first
			now := fmt.Sprint(row.State, row.Progress, report.Used(row.Usage))
			if printed[row.ID] == now {
				continue
			}
			if printed[row.ID] = now; first && row.State.Ended() {
				continue
			}
			err := p.printLine(row, func(screen term.Screen) error { return report.Doing(row, screen) })
			if err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

func (p program) tellDelegation(ctx context.Context, _ *runtime.Data, a runtime.Asked, words []string) error {
	_, err := a.Tell(ctx, a.Who, a.ID, strings.Join(words, " "))
	if err == nil {
		p.std.Say("sent: %s gets it next", a.Agent)
	}
	return err
}

// newWatch makes the command that shows who works.
func (p program) newWatch() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Show what all agents do, until you press Ctrl-C.",
		RunE: p.onData(func(ctx context.Context, d *runtime.Data, _ []string) error {
			ctx, stop := untilTold(ctx)
			defer stop()
			if !term.IsPerson(p.std.Out) {
				return p.followDelegations(ctx, d)
			}
			return every(ctx, func() (bool, error) {
				all, err := d.Delegations(ctx)
				if err != nil {
					return false, err
				}
				return false, report.AtWork(all, time.Now(), term.On(p.std.Out))
			})
		}),
	}
}

func storeVerdict(ctx context.Context, _ *runtime.Data, a runtime.Asked, more []string) error {
	n, err := strconv.ParseFloat(strings.Replace(more[0], minus, "-", 1), 64)
	if err != nil {
		return misuse("N must be a number from -1 to 1, not %q", more[0])
	}
	return a.Judge(ctx, a.Who, a.ID, n, strings.Join(more[1:], " "))
}

// minus stands for the sign of a negative number among the arguments, which would be taken for a flag.
const minus = "−"

var negative = regexp.MustCompile(`^-[0-9.]+$`)

// withSigns lets a verdict be negative.
func withSigns(args []string) []string {
	if !slices.Contains(args, "verdict") {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if negative.MatchString(arg) {
			args[i] = minus + arg[1:]
		}
	}
	return args
}
