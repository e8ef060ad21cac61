package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

const description = `Give any ACP agent a memory.

  signet-acp-proxy [flags] --agent NAME              relay to a harness that is known by name
  signet-acp-proxy [flags] [--agent NAME] -- COMMAND relay to any ACP agent`

// printHelp adds the whole configuration surface to kong's help.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if ctx.Selected() != nil && ctx.Selected().Name != "relay" {
		return nil
	}
	out := ctx.Stdout
	fmt.Fprintf(out, "\nAgents: %s\n", strings.Join(upstream.Names(), ", "))
	fmt.Fprint(out, "\nSettings: flag, else environment, else the acp: section of agent.yaml in the Signet folder, else the default.\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range settings(&Config{}) {
		def := s.def
		if s.enum != nil {
			def += " (" + strings.Join(s.enum, "|") + ")"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", s.name, s.env, def, s.help)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprint(out, "\n  SIGNET_NO_HOOKS=1 or SIGNET_BYPASS=1: a byte pump; nothing is read, stored or asked.\n")
	return nil
}
