package config

import (
	"fmt"
	"strings"
)

// retired are settings that are gone, with what has replaced each. Who still has one is told, and everything else is
// read as before.
var retired = map[string]string{
	"context_age":          "an unused context is kept for 15 minutes",
	"database_wait":        "hold sets it",
	"fetch":                "SIGNET_SESSION_START_TIMEOUT, in milliseconds, sets it",
	"mcp_command":          "agents get our own memory tools",
	"on_session_end_limit": "the command may run for 5 minutes",
	"per_prompt":           "memory is searched for each first prompt; agents search it later with memory_search",
	"reinject":             "identity is inserted again after a compaction, everything after a clear",
	"sink_unused":          "nothing is judged by whether it was used",
	"slash_prefixes":       "commands begin with a slash",
	"tool_hint":            "agents.NAME.asks_for_tools decides it",
}

// warnRetired keeps a warning about a setting that is gone, and reports whether it is one.
func (c *Config) warnRetired(where, name string) bool {
	instead, gone := retired[name]
	if gone {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s is no longer a setting: %s", where, name, instead))
	}
	return gone
}

// variable is the name of a setting's variable.
func variable(name string) string { return "SIGNET_ACP_" + strings.ToUpper(name) }
