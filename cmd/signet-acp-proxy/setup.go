package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A setup puts agents into a client's configuration.
type setup struct {
	program
	to             string // with print: the client
	dryRun, remove bool
}

func newSetup(p program) *cobra.Command {
	s := setup{program: p}
	choices := append(clients.Names(), "print")
	cmd := &cobra.Command{
		Use: "setup CLIENT [NAME…]", Short: "Add agents with memory to a client's configuration.",
		Long: "Add agents with memory to a client's configuration. " +
			"CLIENT is one of " + strings.Join(clients.Names(), ", ") + "; or print, for an entry to paste. " +
			"NAME is an agent; by default all agents found here.",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := takes("CLIENT [NAME…]")(cmd, args); err != nil {
				return err
			}
			return oneOf("CLIENT", args[0], choices)
		},
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, typed string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return choices, cobra.ShellCompDirectiveNoFileComp
			}
			return agentNames(p.flags)(cmd, args, typed)
		},
		RunE: p.onConfig(func(c *config.Config, args []string) error { return s.run(c, args[0], args[1:]) }),
	}
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "Print the change, make none.")
	cmd.Flags().BoolVar(&s.remove, "remove", false, "Remove our entries; without NAME, all of them.")
	cmd.Flags().StringVar(&s.to, "for", "",
		"With print: the `CLIENT`, any of "+strings.Join(clients.Snippets(), ", ")+".")
	complete(cmd, "for", cobra.FixedCompletions(clients.Snippets(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (s setup) run(c *config.Config, client string, agents []string) error {
	names, err := s.names(c, agents)
	switch {
	case err != nil:
		return err
	case client == "print":
		return s.print(c, names)
	case s.to != "":
		return misuse("--for needs print")
	}
	file, err := clients.Open(client)
	if err != nil {
		return err
	}
	if s.remove {
		err = s.takeOut(file, names)
	} else {
		err = s.putIn(c, file, names)
	}
	switch {
	case err != nil || !file.Changed():
		return err
	case s.dryRun:
		return report.Diff(file.Diff(), term.On(s.std.Out))
	}
	if err := file.Save(); err != nil {
		return err
	}
	s.std.Say("written: %s; %s", memory.HomeShort(file.Path), file.Reload)
	return nil
}

// names returns the harnesses that are meant.
func (s setup) names(c *config.Config, agents []string) ([]string, error) {
	var names []string
	for _, name := range agents {
		name = strings.TrimPrefix(name, clients.Prefix)
		if _, known := c.Profile(name); !known {
			return nil, unknownAgent(c, name)
		}
		names = append(names, config.Canonical(name))
	}
	if len(agents) == 0 && !s.remove {
		names = clients.Installed(c)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (s setup) putIn(c *config.Config, file *clients.File, names []string) error {
	if len(names) == 0 {
		s.std.Say("no agent found on PATH; name some of %s", strings.Join(c.AgentNames(), ", "))
		return nil
	}
	done, err := file.PutIn(c, names)
	for _, one := range done {
		switch {
		case one.Result == clients.AlreadyOurs:
			s.std.Say("%s already exists", one.Name)
		case one.Result == clients.AlreadyOther:
			s.std.Say("%s already exists and is not ours; not changed", one.Name)
		case !s.dryRun:
			s.std.Say("%s added: %s", one.Name, strings.Join(one.Command, " "))
		}
	}
	return err
}

func (s setup) takeOut(file *clients.File, names []string) error {
	taken, err := file.TakeOut(names)
	if err == nil && len(taken) == 0 {
		s.std.Say("no entry of ours in %s", file.Path)
	}
	for _, name := range taken {
		if !s.dryRun {
			s.std.Say("%s removed", name)
		}
	}
	return err
}

// print prints entries for any other client.
func (s setup) print(c *config.Config, names []string) error {
	if s.remove {
		return misuse("--remove does not apply to print")
	}
	if len(names) == 0 {
		s.std.Say("no agent found on PATH; name one of %s", strings.Join(c.AgentNames(), ", "))
		return nil
	}
	text, err := clients.Snippet(c, s.to, names)
	if err != nil {
		return misuse("%w", err)
	}
	if client, known := clients.Named(s.to); known {
		s.std.Say("%s: add this to %s", client.Title, strings.ReplaceAll(client.Where, "`", ""))
	}
	_, err = io.WriteString(s.std.Out, text)
	return err
}
