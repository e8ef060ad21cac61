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

const (
	helpTemplate  = "{{fold 0 (or .Long .Short)}}\n\n{{.UsageString}}"
	usageTemplate = `Usage:
{{if .HasParent}}  {{.UseLine}}
{{else}}  signet-acp-proxy [flags] --agent NAME               relay to a known harness
  signet-acp-proxy [flags] [--agent NAME] -- COMMAND  relay to any ACP agent
  signet-acp-proxy [flags] COMMAND                    one of these:
{{end}}{{if .HasAvailableSubCommands}}
Commands (COMMAND -h explains one):
{{range .Commands}}{{if .IsAvailableCommand}}  {{rpad .Name 12}} {{fold 15 .Short}}
{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{flags .LocalFlags}}{{end}}
{{if .HasParent}}Flags of every command: signet-acp-proxy -h
{{else}}Agents: {{fold 8 agents}}

Settings, and the variables that set them: signet-acp-proxy help settings
{{end}}`
)

// The widths of help and of the table of settings in columns where the output is no terminal.
const (
	helpWidth     = 80
	settingsWidth = 100
)

// explain has a command and those below it print their help to std, in lines that fit.
func explain(root *cobra.Command, std term.Streams) {
	width := func() int { return cmp.Or(term.On(std.Out).Width, helpWidth) }
	cobra.AddTemplateFuncs(map[string]any{
		"agents": func() string { return strings.Join(upstream.Names(), ", ") },
		"flags":  func(set *pflag.FlagSet) string { return set.FlagUsagesWrapped(width()) },
		"fold":   func(indent int, text string) string { return term.Wrap(text, width(), indent) },
	})
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	settings := &cobra.Command{Use: "settings", Short: "Every setting, and the variable that sets it."}
	settings.SetHelpFunc(func(*cobra.Command, []string) {
		s := term.On(std.Out)
		_, _ = io.WriteString(s.W, settingsHelp(cmp.Or(s.Width, settingsWidth)))
	})
	root.AddCommand(settings)
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
