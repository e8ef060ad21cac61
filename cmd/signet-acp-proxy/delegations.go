package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// namesDelegation explains the argument of commands that are about one delegation.
const namesDelegation = "ID is that of a delegation, or at least six characters that only one begins or ends with."

// newDelegations makes the commands about what agents have asked of one another.
func newDelegations(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON, follow bool
	cmd := &cobra.Command{
		Use:   "delegations [ID]",
		Short: "List what agents have asked of one another, newest first, or show one of them.",
		Args:  cli.AtMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				show := func(ctx context.Context, _ *runtime.Data, a runtime.Asked) error {
					return showDelegation(ctx, a, asJSON, std)
				}
				err := withDelegation(args[0], f, std, show)
				if errors.Is(err, delegation.ErrNotFound) {
					err = fmt.Errorf("%w%s", err, cli.Meant(cmd, args[0]))
				}
				return err
			}
			return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
				if follow {
					return followDelegations(ctx, d, asJSON, std)
				}
				all, err := d.Delegations(ctx)
				switch {
				case err != nil:
					return err
				case asJSON:
					return term.JSON(std.Out, all)
				}
				return report.Delegations(all, term.On(std.Out))
			})
		},
		ValidArgsFunction: cli.DelegationIDs(f),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "Go on with what each of them does, until it is interrupted.")
	cli.ForScripts(cmd, &asJSON)
	cmd.AddCommand(
		aboutDelegation("show ID", "Show what was asked, refused and changed, and the last message.", f, std,
			func(ctx context.Context, _ *runtime.Data, a runtime.Asked, asJSON bool) error {
				return showDelegation(ctx, a, asJSON, std)
			}),
		newDelegationDiff(f, std),
		aboutDelegation("apply ID", "Put what it has changed into the caller's folder, all of it or nothing.", f, std,
			func(ctx context.Context, _ *runtime.Data, a runtime.Asked, asJSON bool) error {
				files, err := a.Apply(ctx, a.Delegation)
				if err != nil {
					return err
				}
				return report.Applied(a.ID, files, asJSON, std)
			}),
		aboutDelegation("discard ID", "Throw away what it has changed, with its folder.", f, std,
			func(ctx context.Context, _ *runtime.Data, a runtime.Asked, asJSON bool) error {
				if err := a.Discard(ctx, a.Delegation); err != nil {
					return err
				}
				a.Folder, a.Branch = "", ""
				return report.Did("discarded", a.Row(), asJSON, std)
			}),
		aboutDelegation("cancel ID", "End it, and wait until it has ended.", f, std,
			func(ctx context.Context, _ *runtime.Data, a runtime.Asked, asJSON bool) error {
				row, err := a.End(ctx)
				if err != nil {
					return err
				}
				return report.Did(string(row.State), row, asJSON, std)
			}),
		newDelegationWait(f, std), newDelegationLog(f, std), newVerdict(f, std),
	)
	return cmd
}

// withDelegation finds a delegation by what a person calls it.
func withDelegation(id string, f *config.Flags, std term.Streams,
	do func(context.Context, *runtime.Data, runtime.Asked) error) error {
	return runtime.WithData(f, std, func(ctx context.Context, d *runtime.Data) error {
		ctx, stop := untilTold(ctx)
		defer stop()
		a, err := d.Asked(ctx, id)
		if err != nil {
			return err
		}
		return do(ctx, d, a)
	})
}

// aboutDelegation makes a command about one delegation.
func aboutDelegation(use, short string, f *config.Flags, std term.Streams,
	do func(context.Context, *runtime.Data, runtime.Asked, bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: use, Short: short, Long: short + " " + namesDelegation, Args: cli.Arguments,
		ValidArgsFunction: cli.DelegationIDs(f),
		RunE: func(_ *cobra.Command, args []string) error {
			return withDelegation(args[0], f, std, func(ctx context.Context, d *runtime.Data, a runtime.Asked) error {
				return do(ctx, d, a, asJSON)
			})
		},
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func showDelegation(ctx context.Context, a runtime.Asked, asJSON bool, std term.Streams) error {
	shown, err := a.Show(ctx)
	switch {
	case err != nil:
		return err
	case asJSON:
		return term.JSON(std.Out, shown)
	}
	report.Delegation(shown, term.On(std.Out))
	return nil
}

func newDelegationDiff(f *config.Flags, std term.Streams) *cobra.Command {
	const short = "Print what it has changed, as a patch that git apply takes."
	return &cobra.Command{
		Use: "diff ID", Short: short, Long: short + " " + namesDelegation, Args: cli.Arguments,
		ValidArgsFunction: cli.DelegationIDs(f),
		RunE: func(_ *cobra.Command, args []string) error {
			return withDelegation(args[0], f, std, func(ctx context.Context, _ *runtime.Data, a runtime.Asked) error {
				if !term.IsPerson(std.Out) {
					return a.Diff(ctx, a.Delegation, std.Out)
				}
				var patch bytes.Buffer
				if err := a.Diff(ctx, a.Delegation, &patch); err != nil {
					return err
				}
				return term.Page(std.Out, func(s term.Screen) error {
					_, err := fmt.Fprintln(s.W, term.Visible(strings.TrimSuffix(patch.String(), "\n")))
					return err
				})
			})
		},
	}
}

func newDelegationWait(f *config.Flags, std term.Streams) *cobra.Command {
	var timeout time.Duration
	cmd := aboutDelegation("wait ID", "Wait until it has ended, and print the last message.", f, std,
		func(ctx context.Context, _ *runtime.Data, a runtime.Asked, asJSON bool) error {
			progress := term.NewProgress(std.Err)
			ended, err := a.Await(ctx, timeout, func(line string) { progress.Step(line) })
			progress.Done()
			switch {
			case err != nil:
				return err
			case asJSON:
				return term.JSON(std.Out, ended.Row)
			}
			return report.Delegated(ended, std)
		})
	cmd.Flags().DurationVar(&timeout, "timeout", 24*time.Hour, "Wait no longer than this `DURATION`.")
	return cmd
}

func newDelegationLog(f *config.Flags, std term.Streams) *cobra.Command {
	var follow bool
	cmd := aboutDelegation("log ID", "Print the conversation in which it was worked on.", f, std,
		func(ctx context.Context, d *runtime.Data, a runtime.Asked, asJSON bool) error {
			if follow {
				return followDelegation(ctx, d, a, asJSON, std)
			}
			s, err := a.Child(ctx, d)
			if err != nil {
				return err
			}
			said, err := d.Conversation(ctx, s.ID)
			switch {
			case err != nil:
				return err
			case asJSON:
				return term.JSON(std.Out, said)
			}
			return term.Page(std.Out, func(screen term.Screen) error { return report.Conversation(s, said, screen) })
		})
	cmd.Flags().BoolVar(&follow, "follow", false, "Go on with what is said and done, until it has ended.")
	return cmd
}

// followDelegation prints entries of its conversation as they become whole, until it has ended.
func followDelegation(ctx context.Context, d *runtime.Data, a runtime.Asked, asJSON bool, std term.Streams) error {
	screen, told := term.On(std.Out), 0
	for {
		now, err := d.Asked(ctx, a.ID)
		if err != nil {
			return err
		}
		ended := now.State.Ended()
		if s, err := now.Child(ctx, d); err == nil {
			said, err := d.Conversation(ctx, s.ID)
			if err != nil {
				return err
			}
			whole := len(said)
			if !ended && whole > 0 { // the last one is still being said
				whole--
			}
			for ; told < whole; told++ {
				if err := printEntry(said[told], s, asJSON, screen); err != nil {
					return err
				}
			}
		} else if ended {
			return err
		}
		if ended {
			return nil
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return nil
		}
	}
}

func printEntry(e runtime.Entry, s runtime.Listed, asJSON bool, screen term.Screen) error {
	if !asJSON {
		return report.Said(e, s, screen)
	}
	return printLine(e, screen)
}

// printLine prints JSON on one line.
func printLine(v any, screen term.Screen) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = screen.W.Write(append(chars.EscapeJSON(line), '\n'))
	}
	return err
}

// followDelegations prints what each delegation does, as it changes, until it is interrupted.
func followDelegations(ctx context.Context, d *runtime.Data, asJSON bool, std term.Streams) error {
	ctx, stop := untilTold(ctx)
	defer stop()
	screen, begun := term.On(std.Out), false
	return d.Changes(ctx, func(news []delegation.Row) error {
		slices.Reverse(news) // oldest first
		if !begun {          // of those that have ended by then nothing is to come
			begun = true
			news = slices.DeleteFunc(news, func(r delegation.Row) bool { return r.State.Ended() })
		}
		for _, row := range news {
			var err error
			if asJSON {
				err = printLine(row, screen)
			} else {
				err = report.Doing(row, screen)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func newVerdict(f *config.Flags, std term.Streams) *cobra.Command {
	const short = "Say how good its result was: N from -1 (harmful) to 1 (helpful)."
	return &cobra.Command{
		Use: "verdict ID N [NOTE…]", Short: short, Long: short + " " + namesDelegation, Args: cli.Arguments,
		ValidArgsFunction: cli.DelegationIDs(f),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := strconv.ParseFloat(strings.Replace(args[1], minus, "-", 1), 64)
			if err != nil {
				return cli.Misuse("N must be a number from -1 to 1, not %q", args[1])
			}
			return withDelegation(args[0], f, std, func(ctx context.Context, _ *runtime.Data, a runtime.Asked) error {
				return a.Verdict(ctx, n, strings.Join(args[2:], " "))
			})
		},
	}
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
