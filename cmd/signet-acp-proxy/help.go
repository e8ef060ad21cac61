package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

const relayUsage = `  signet-acp-proxy [flags] --agent NAME               relay to a known harness
  signet-acp-proxy [flags] [--agent NAME] -- COMMAND  relay to any ACP agent
  signet-acp-proxy [flags] COMMAND                    one of these:
`

// settingsTopic is what help calls the settings.
const settingsTopic = "settings"

// newHelp makes the command that explains the others, and the settings.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND…]", Short: "Explain a command, or settings.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == settingsTopic {
				s := term.On(cmd.OutOrStdout())
				_, err := io.WriteString(s.W, settingsHelp(cmp.Or(s.Width, settingsWidth)))
				return err
			}
			about, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = unexpected(about, rest[0])
			}
			if err != nil {
				return err
			}
			return about.Help()
		},
	}
}

// The widths of help and of the table of settings in columns where the output is no terminal.
const (
	helpWidth     = 80
	settingsWidth = 100
)

// printHelp prints the help of a command. The flags that all commands take are explained with the root command's.
func printHelp(cmd *cobra.Command, _ []string) {
	cmd.Flags().SortFlags = false // they are defined in a useful order
	s := term.On(cmd.OutOrStdout())
	width := cmp.Or(s.Width, helpWidth)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n", term.Wrap(cmp.Or(cmd.Long, cmd.Short), width, 0))
	if cmd.HasParent() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	} else {
		b.WriteString(relayUsage)
	}
	if commands := cmd.Commands(); len(commands) > 0 {
		longest := 0
		for _, sub := range commands {
			longest = max(longest, len(sub.Name()))
		}
		b.WriteString("\nCommands (COMMAND -h explains one):\n")
		for _, sub := range commands {
			if sub.IsAvailableCommand() {
				head := fmt.Sprintf("  %-*s  ", longest, sub.Name())
				b.WriteString(head + term.Wrap(sub.Short, width, len(head)) + "\n")
			}
		}
	}
	if own := cmd.LocalNonPersistentFlags(); own.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + own.FlagUsagesWrapped(width))
	}
	common := cmd.Root().PersistentFlags()
	if cmd.HasParent() {
		var names []string
		common.VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
		const also = "Also: "
		b.WriteString("\n" + also +
			term.Wrap(strings.Join(names, ", ")+" (signet-acp-proxy -h)", width, len(also)) + "\n")
	} else {
		const agents = "Agents: "
		b.WriteString("\nFlags of every command:\n" + common.FlagUsagesWrapped(width) +
			"\n" + agents + term.Wrap(strings.Join(upstream.Names(), ", "), width, len(agents)) +
			"\n\nSettings, and the variables that set them: signet-acp-proxy help " + settingsTopic + "\n")
	}
	_, _ = io.WriteString(s.W, b.String())
}

// settingsHelp is the table of settings. On a narrow screen the rule for the variables' names stands in place of each
// name.
func settingsHelp(width int) string {
	all := config.SettingsOf(&config.Config{})
	var names, variables, defaults int
	for _, s := range all {
		names, variables, defaults = max(names, len(s.Name)), max(variables, len(s.Env)), max(defaults, len(s.Default))
	}
	narrow := width < names+variables+defaults+50
	var b strings.Builder
	b.WriteString(term.Wrap("Settings: flag, else environment (SIGNET_ACP_ and the name in capitals), "+
		"else the acp: section of agent.yaml in the Signet folder, else the default.", width, 0) + "\n\n")
	for _, s := range all {
		head := fmt.Sprintf("  %-*s  ", names, s.Name)
		if !narrow {
			head += fmt.Sprintf("%-*s  ", variables, s.Env)
		}
		head += fmt.Sprintf("%-*s  ", defaults, s.Default)
		help := s.Help
		if s.Enum != nil {
			help += " (" + strings.Join(s.Enum, ", ") + ")"
		}
		b.WriteString(head + term.Wrap(help, width, len(head)) + "\n")
	}
	const pump = "SIGNET_NO_HOOKS=1 or SIGNET_BYPASS=1: a byte pump; nothing is read, stored or asked."
	b.WriteString("\n" + term.Wrap(pump, width, 0) + "\n")
	return b.String()
}
