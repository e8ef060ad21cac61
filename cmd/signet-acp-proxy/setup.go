package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// setupCommand puts agents into a client's configuration.
type setupCommand struct {
	client string
	agents []string
	to     string // with print: the client
	dryRun bool
	remove bool
}

func newSetup(f *config.Flags, std term.Streams) *cobra.Command {
	var s setupCommand
	choices := append(clients.Names(), "print")
	cmd := &cobra.Command{
		Use: "setup CLIENT [NAME…]", Short: "Add agents with memory to a client's configuration.",
		Long: "Add agents with memory to a client's configuration. " +
			"CLIENT is one of " + strings.Join(clients.Names(), ", ") + "; or print, for what goes into one by hand. " +
			"NAME is a harness; without one all those that are found on this machine are meant.",
		Args: cli.FirstOf(choices),
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, typed string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return choices, cobra.ShellCompDirectiveNoFileComp
			}
			return cli.AgentNames(f)(cmd, args, typed)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s.client, s.agents = args[0], args[1:]
			return s.run(f, std)
		},
	}
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "Show the change, make none.")
	cmd.Flags().BoolVar(&s.remove, "remove", false, "Take out what we put in; all of it if none is named.")
	cmd.Flags().StringVar(&s.to, "for", "",
		"With print: the `CLIENT`, any of "+strings.Join(clients.Snippets(), ", ")+".")
	cli.Complete(cmd, "for", cobra.FixedCompletions(clients.Snippets(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (cmd *setupCommand) run(f *config.Flags, std term.Streams) error {
	c, err := config.Load(*f)
	if err != nil {
		return err
	}
	names, err := cmd.names(c)
	if err != nil {
		return err
	}
	if cmd.to != "" && cmd.client != "print" {
		return cli.Misuse("--for goes with print")
	}
	if cmd.client == "print" {
		return cmd.print(c, names, std)
	}
	file, err := clients.Open(cmd.client)
	if err != nil {
		return err
	}
	if cmd.remove {
		err = takeOut(file, names, cmd.dryRun, std)
	} else {
		err = putIn(c, file, names, cmd.dryRun, std)
	}
	if err != nil || !file.Changed() {
		return err
	}
	if cmd.dryRun {
		return report.Diff(file.Diff(), term.On(std.Out))
	}
	if err := file.Save(); err != nil {
		return err
	}
	std.Say("written: %s; %s", file.Path, file.Reload)
	return nil
}

// names returns the harnesses that are meant.
func (cmd *setupCommand) names(c *config.Config) ([]string, error) {
	var names []string
	for _, name := range cmd.agents {
		name = strings.TrimPrefix(name, clients.Prefix)
		if _, known := c.Profile(name); !known {
			return nil, cli.UnknownAgent(c, name)
		}
		names = append(names, config.Canonical(name))
	}
	if len(cmd.agents) == 0 && !cmd.remove {
		names = clients.Installed(c)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func putIn(c *config.Config, file *clients.File, names []string, dryRun bool, std term.Streams) error {
	if len(names) == 0 {
		std.Say("no harness was found: name the ones to add: %s", strings.Join(c.AgentNames(), ", "))
		return nil
	}
	done, err := file.PutIn(c, names)
	for _, one := range done {
		switch {
		case one.Result == clients.AlreadyOurs:
			std.Say("%s is there already", one.Name)
		case one.Result == clients.AlreadyOther:
			std.Say("%s already exists and is not ours: not changed", one.Name)
		case !dryRun:
			std.Say("%s added: %s", one.Name, strings.Join(one.Command, " "))
		}
	}
	return err
}

func takeOut(file *clients.File, names []string, dryRun bool, std term.Streams) error {
	taken, err := file.TakeOut(names)
	if err == nil && len(taken) == 0 {
		std.Say("nothing of ours is in %s", file.Path)
	}
	for _, name := range taken {
		if !dryRun {
			std.Say("%s removed", name)
		}
	}
	return err
}

// print prints entries for any other client.
func (cmd *setupCommand) print(c *config.Config, names []string, std term.Streams) error {
	if cmd.remove {
		return cli.Exit{Code: cli.Usage, Err: errors.New("print writes no file, so there is nothing to remove")}
	}
	if len(names) == 0 {
		std.Say("no harness was found: name one of %s", strings.Join(c.AgentNames(), ", "))
		return nil
	}
	text, err := clients.Snippet(c, cmd.to, names)
	if err != nil {
		return cli.Misuse("%w", err)
	}
	if client, known := clients.Named(cmd.to); known {
		std.Say("%s: put this into %s", client.Title, strings.ReplaceAll(client.Where, "`", ""))
	}
	_, err = io.WriteString(std.Out, text)
	return err
}
