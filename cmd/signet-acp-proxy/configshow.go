package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

func newConfig(f *Flags, std stdio) *cobra.Command {
	return group("config", "Look into the configuration.", newConfigShow(f, std))
}

func newConfigShow(f *Flags, std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Print every value and where it came from; exit 1 when something is wrong.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return showConfig(asJSON, f, std) },
	}
	forScripts(cmd, &asJSON)
	return cmd
}

// shownSetting is a setting as config show prints it.
type shownSetting struct {
	Name        string `json:"name"`
	Value       any    `json:"value"`
	Source      string `json:"source"`
	Environment string `json:"environment,omitempty"`
}

func showConfig(asJSON bool, f *Flags, std stdio) error {
	c, err := loadConfig(f)
	if err != nil {
		return err
	}
	all := c.shown()
	if asJSON {
		return printJSON(std.out, all)
	}
	t := &table{columns: []column{{title: "SETTING"}, {title: "VALUE", least: 12}, {title: "FROM", least: 7}, {title: "ENVIRONMENT", spare: 1}}}
	for _, s := range all {
		t.add(s.Name, fmt.Sprint(s.Value), s.Source, s.Environment)
	}
	return t.print(screenOn(std.out))
}

// shown lists every setting.
func (c *Config) shown() []shownSetting {
	all := []shownSetting{{"signet_path", c.SignetPath, c.sources["signet_path"], "SIGNET_PATH"}}
	for _, s := range settings(c) {
		all = append(all, shownSetting{s.name, plainValue(s), c.sources[s.name], s.env})
	}
	var names []string
	for name := range c.Agents {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		agent := c.Agents[name]
		for _, s := range settingsOf(&agent) {
			source, set := c.sources["agents."+name+"."+s.name]
			if !set {
				source = "default"
				if _, known := upstream.Lookup(name); known && s.name == "command" {
					continue // its own
				}
			}
			all = append(all, shownSetting{"agents." + name + "." + s.name, plainValue(s), source, ""})
		}
	}
	return all
}

// plainValue is a value as a person would write it, a list or a truth value as JSON has them.
func plainValue(s setting) any {
	switch v := s.value.Interface().(type) {
	case time.Duration:
		return shortDuration(v)
	case commandLine:
		return strings.Join(v, " ")
	case []string:
		if v == nil {
			return ""
		}
		return strings.Join(v, ",")
	default:
		return v
	}
}

// shortDuration leaves out the zeros of 15m0s, and counts whole days as days.
func shortDuration(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", days)
	}
	text := d.String()
	if s, ok := cutLast(text, "m0s"); ok {
		text = s + "m"
	}
	if s, ok := cutLast(text, "h0m"); ok {
		text = s + "h"
	}
	return text
}
