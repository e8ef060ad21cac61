package main

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// build says which program this is, and what it speaks (docs/facts/acp.md).
type build struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"` // a build outside of a checkout has none
	Driver  string   `json:"driver"`           // SQLite's
	ACP     []int    `json:"acp"`
	Drafts  []string `json:"drafts"` // what is spoken of ACP beyond its versions
}

func newVersion(p program) *cobra.Command {
	return p.forScripts(&cobra.Command{
		Use: "version", Short: "Print the version, commit and SQLite driver.",
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			return p.print(b, func(s term.Screen) error {
				_, err := fmt.Fprintf(s.W, "signet-acp-proxy %s\ncommit %s\nSQLite driver %s\n", b.Version,
					cmp.Or(b.Commit, "not known"), b.Driver)
				return err
			})
		},
	})
}

func thisBuild() build {
	b := build{Version: runtime.Version, Driver: migrations.DriverModule, ACP: []int{1, 2},
		Drafts: []string{"version 2", "notice", "compaction_update", "usage_update", "usage of a result"}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == b.Driver }); i >= 0 {
		b.Driver += " " + info.Deps[i].Version
	}
	return b
}
