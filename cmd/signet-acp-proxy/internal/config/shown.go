package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A ShownSetting is a setting as config show prints it.
type ShownSetting struct {
	Name        string `json:"name"`
	Value       any    `json:"value"`
	Source      string `json:"source"`
	Environment string `json:"environment,omitempty"`
}

// Shown lists every setting.
func (c *Config) Shown() []ShownSetting {
	all := []ShownSetting{{"signet_path", c.SignetPath, c.sources["signet_path"], "SIGNET_PATH"}}
	for _, s := range SettingsOf(c) {
		all = append(all, ShownSetting{s.Name, plainValue(s), c.sources[s.Name], s.Env})
	}
	var names []string
	for name := range c.Agents {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		agent := c.Agents[name]
		for _, s := range SettingsOf(&agent) {
			source, set := c.sources["agents."+name+"."+s.Name]
			if !set {
				source = "default"
				if _, known := upstream.Lookup(name); known && s.Name == "command" {
					continue // its own
				}
			}
			all = append(all, ShownSetting{"agents." + name + "." + s.Name, plainValue(s), source, ""})
		}
	}
	return all
}

// plainValue returns a value as config show prints it.
func plainValue(s Setting) any {
	switch v := s.value.Interface().(type) {
	case time.Duration:
		return shortDuration(v)
	case byteSize:
		return v.String()
	case commandLine:
		return strings.Join(v, " ")
	case *bool:
		if v == nil {
			return ""
		}
		return *v
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
	if s, ok := strings.CutSuffix(text, "m0s"); ok {
		text = s + "m"
	}
	if s, ok := strings.CutSuffix(text, "h0m"); ok {
		text = s + "h"
	}
	return text
}
