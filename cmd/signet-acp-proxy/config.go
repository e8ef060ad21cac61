package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

func newConfig(p program) *cobra.Command {
	return group("config", "Show and change settings.", newConfigShow(p), newConfigGet(p), newConfigSet(p),
		newConfigUnset(p))
}

func newConfigShow(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "show", Short: "Print every value and its source; exit 1 on a mistake.",
		RunE: p.onConfig(func(c *config.Config, _ []string) error {
			for _, warning := range c.Warnings {
				p.std.Line(warning)
			}
			all := c.Shown()
			return p.print(all, func(s term.Screen) error { return report.Settings(all, s) })
		}),
	})
}

func newConfigGet(p program) *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print a setting's value.",
		Long:              "Print a setting's value. KEY is its name, or agents.NAME.FIELD.",
		ValidArgsFunction: settingKeys,
		RunE: p.onConfig(func(c *config.Config, args []string) error {
			for _, s := range c.Shown() {
				if s.Name == args[0] {
					_, err := fmt.Fprintln(p.std.Out, s.Value)
					return err
				}
			}
			_, err := config.Set(nil, args[0], "")
			if unknown := (config.UnknownSetting{}); errors.As(err, &unknown) {
				return exitError{exitUsage, unknown}
			}
			return nil // an agent that has no section
		}),
	}
}

func newConfigSet(p program) *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one setting in agent.yaml.",
		Long: "Change one setting in the acp: section of agent.yaml. " +
			"KEY is its name, or agents.NAME.FIELD; separate a list by commas.",
		ValidArgsFunction: settingKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			return p.editConfig(args[0], func(text []byte) ([]byte, error) {
				return config.Set(text, args[0], args[1])
			})
		},
	}
}

func newConfigUnset(p program) *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Remove a setting from agent.yaml.",
		Long: "Remove a setting from the acp: section of agent.yaml; the default applies. " +
			"KEY is its name, or agents.NAME.FIELD.",
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, typed string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return settingKeys(cmd, args, typed)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return p.editConfig(args[0], func(text []byte) ([]byte, error) {
				return config.Unset(text, args[0])
			})
		},
	}
}

func settingKeys(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, s := range config.SettingsOf(&config.Config{}) {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(s.Name, s.Help))
		} else if s.Name == args[0] {
			names = s.Enum
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// editConfig edits agent.yaml for the sake of a setting. edit must take an empty text, too.
func (p program) editConfig(key string, edit func([]byte) ([]byte, error)) error {
	c, err := config.Load(*p.flags)
	if errors.Is(err, config.ErrNoFolder) {
		return err
	}
	path := filepath.Join(c.SignetPath, "agent.yaml") // with mistakes in it, too: this may mend them
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // what a link names is written, not the link
	}
	text, err := files.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, misuse := edit(nil); misuse != nil {
		return exitError{exitUsage, misuse}
	}
	edited, err := edit(text)
	if err != nil {
		return fmt.Errorf("%s not changed: %w", memory.HomeShort(path), err)
	}
	if bytes.Equal(edited, text) {
		p.std.Say("%s: nothing to change", memory.HomeShort(path))
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := files.ReplaceText(path, files.Mode(path), edited); err != nil {
		return err
	}
	p.std.Say("written: %s", memory.HomeShort(path))
	if s, ok := config.Named(key); ok && os.Getenv(s.Env) != "" {
		p.std.Say("%s is set in this environment and takes precedence", s.Env)
	}
	return nil
}
