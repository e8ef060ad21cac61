package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/cli"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/report"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func newConfig(f *config.Flags, std term.Streams) *cobra.Command {
	return cli.Group("config", "Show and change settings.",
		newConfigShow(f, std), newConfigGet(f, std), newConfigSet(f, std))
}

func newConfigShow(f *config.Flags, std term.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Print every value and where it came from; exit 1 on a mistake.",
		Args: cli.Arguments,
		RunE: func(*cobra.Command, []string) error { return showConfig(asJSON, f, std) },
	}
	cli.ForScripts(cmd, &asJSON)
	return cmd
}

func showConfig(asJSON bool, f *config.Flags, std term.Streams) error {
	c, err := config.Load(*f)
	if err != nil {
		return err
	}
	all := c.Shown()
	if asJSON {
		return term.JSON(std.Out, all)
	}
	return report.Settings(all, term.On(std.Out))
}

func newConfigGet(f *config.Flags, std term.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print the value of a setting that counts here.", Args: cli.Arguments,
		Long:              "Print the value of a setting that counts here. KEY is its name, or agents.NAME.FIELD.",
		ValidArgsFunction: settingKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := config.Load(*f)
			if err != nil {
				return err
			}
			all := c.Shown()
			i := slices.IndexFunc(all, func(s config.ShownSetting) bool { return s.Name == args[0] })
			if i < 0 {
				_, err := config.Set(nil, args[0], "")
				if unknown := (config.UnknownSetting{}); errors.As(err, &unknown) {
					return cli.Exit{Code: cli.Usage, Err: unknown}
				}
				return nil // an agent that has no section
			}
			_, err = fmt.Fprintln(std.Out, all[i].Value)
			return err
		},
	}
}

func newConfigSet(f *config.Flags, std term.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Set a setting in agent.yaml, and leave all else there as it is.",
		Long: "Set a setting in the acp: section of agent.yaml, and leave all else there as it is, comments " +
			"included. KEY is its name, or agents.NAME.FIELD; a list is written with commas.",
		Args: cli.Arguments, ValidArgsFunction: settingKeys,
		RunE: func(_ *cobra.Command, args []string) error { return setConfig(args[0], args[1], f, std) },
	}
}

func settingKeys(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, s := range config.Settings() {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(s.Name, s.Help))
		} else if s.Name == args[0] {
			names = s.Enum
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func setConfig(key, value string, f *config.Flags, std term.Streams) error {
	c, err := config.Load(*f)
	if errors.Is(err, config.ErrNoFolder) {
		return err
	}
	file := filepath.Join(c.SignetPath, "agent.yaml") // with mistakes in it, too: this may mend them
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // what a link names is written, not the link
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, misuse := config.Set(nil, key, value)
	if misuse != nil {
		return cli.Exit{Code: cli.Usage, Err: misuse}
	}
	edited, err := config.Set(text, key, value)
	if err != nil {
		return fmt.Errorf("%s is left alone: %w", runtime.HomeShort(file), err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	err = runtime.WriteFile(file, func(w io.Writer) error { _, err := w.Write(edited); return err })
	if err = errors.Join(err, os.Chmod(file, mode)); err != nil {
		return err
	}
	std.Say("written: %s", runtime.HomeShort(file))
	if s, ok := config.Named(key); ok && os.Getenv(s.Env) != "" {
		std.Say("%s is set in this environment and takes precedence", s.Env)
	}
	return nil
}
