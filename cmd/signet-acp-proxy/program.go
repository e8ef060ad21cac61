package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Exit codes of our own; the relay's is the harness's.
const (
	exitFailed     = 1
	exitUsage      = 2
	exitNotStarted = 127
)

// An exitError carries the exit code to main. Without err nothing is printed.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return fmt.Sprint(e.err) }
func (e exitError) Unwrap() error { return e.err }

// misuse makes the error of a command line of which only the command itself can see that it is not valid.
func misuse(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format, args...)}
}

// A program is what the commands share: the flags that all or many of them take, and the streams.
type program struct {
	flags  *config.Flags
	asJSON *bool // --json was given
	std    term.Streams
}

// onConfig makes the RunE of a command that stops at a mistake in the configuration, and needs no data.
func (p program) onConfig(work func(c *config.Config, args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		c, err := config.Load(*p.flags)
		if err != nil {
			return err
		}
		return work(c, args)
	}
}

// onData makes the RunE of a command that works on what was recorded.
func (p program) onData(
	work func(ctx context.Context, d *runtime.Data, args []string) error,
) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		return runtime.WithData(p.flags, p.std, func(ctx context.Context, d *runtime.Data) error {
			err := work(ctx, d, args)
			if err == nil && term.IsPerson(p.std.Err) && !*p.asJSON {
				err = report.NewInProfile(ctx, d, p.std)
			}
			return err
		})
	}
}

// forScripts adds the flag --json to a command.
func (p program) forScripts(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(p.asJSON, "json", false, "Print JSON for scripts.")
	return cmd
}

// print prints an answer: as JSON for scripts, or as show shows it.
func (p program) print(answer any, show func(term.Screen) error) error {
	if *p.asJSON {
		return term.JSON(p.std.Out, answer)
	}
	return show(term.On(p.std.Out))
}

// printLine is print for one of many answers: JSON on a line of its own.
func (p program) printLine(answer any, show func(term.Screen) error) error {
	if !*p.asJSON {
		return show(term.On(p.std.Out))
	}
	line, err := json.Marshal(answer)
	if err == nil {
		_, err = p.std.Out.Write(append(chars.EscapeJSON(line), '\n'))
	}
	return err
}

// printConversation prints what was said in a session, to a person through a pager.
func (p program) printConversation(ctx context.Context, d *runtime.Data, s runtime.Listed) error {
	said, err := d.Conversation(ctx, s.ID)
	switch {
	case err != nil:
		return err
	case *p.asJSON:
		return term.JSON(p.std.Out, said)
	}
	files, err := d.FilesOf(ctx, s)
	if err != nil {
		return err
	}
	return term.Page(p.std.Out, func(screen term.Screen) error { return report.Conversation(s, said, files, screen) })
}

// projectOf returns the project of a folder that a person names, "" for none.
func projectOf(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	path, err := config.Folder(dir)
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	return memory.Project(path), nil
}

// followPause is how often --follow looks for what is new.
const followPause = 200 * time.Millisecond

// every calls look until it is done, ctx ends or it returns an error.
func every(ctx context.Context, look func() (done bool, err error)) error {
	for {
		if done, err := look(); ctx.Err() != nil {
			return nil // interrupted, perhaps while it looked
		} else if done || err != nil {
			return err
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return nil
		}
	}
}

// endSignals tell us to end. A system that has no hangup never sends it.
var endSignals = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT}

// untilTold returns a context that ends when a signal tells us to end. A broken pipe does not: a browser that stops
// loading a page, and a hook that does not read its input, cause SIGPIPE too.
func untilTold(parent context.Context) (ctx context.Context, stop func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(parent, endSignals...)
	return ctx, func() {
		signal.Stop(pipes)
		cancel()
	}
}
