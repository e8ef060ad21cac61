package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// DelegationFolders is the folder in which the folders of delegations are made.
func DelegationFolders(c *config.Config) string { return filepath.Join(c.Dir(), "work") }

// delegationAt returns the delegation in whose folder a folder lies, "" for none.
func delegationAt(c *config.Config, cwd string) string {
	rel, err := filepath.Rel(DelegationFolders(c), cwd)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	id, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return id
}

// projectFile is a file beside a delegation's folder with the caller's project.
const projectFile = "project"

// delegatedProject returns the project of a folder; for a delegation's folder it is the caller's.
func delegatedProject(c *config.Config) func(cwd string) string {
	return func(cwd string) string {
		id := delegationAt(c, cwd)
		if id == "" {
			return memory.Project(cwd)
		}
		project, err := os.ReadFile(filepath.Join(DelegationFolders(c), id, projectFile))
		if err != nil {
			return memory.Project(cwd)
		}
		return string(project)
	}
}

// privateFile is where digests of private passages are kept.
func privateFile(c *config.Config) string { return filepath.Join(c.Dir(), "private") }

// PageFile is where view writes the page by default.
func PageFile(c *config.Config) string { return filepath.Join(c.SignetPath, "acp", "view.html") }

// RedirectFile is the page that leads a browser to view --live.
func RedirectFile(c *config.Config) string {
	return filepath.Join(c.SignetPath, "acp", "view-live.html")
}

// RemoveShown removes what may show outside of the database what is forgotten in it: that page, and the copy from
// before an upgrade. A page or a backup that a person had written elsewhere stays.
func RemoveShown(c *config.Config) error {
	return errors.Join(files.Remove("the page that view wrote", PageFile(c)), RemoveUpgradeCopy(c))
}

// refusalFile says why a program was refused the memory tools last that may be an agent's. doctor reads it.
func refusalFile(c *config.Config) string { return filepath.Join(c.Dir(), "refused-tools") }

// panicsFile is the file of panics, which doctor reads.
func panicsFile(c *config.Config) string { return filepath.Join(c.Dir(), "panics.jsonl") }

// Files in the database's folder that stand for what one process does for all, or one after the other.
const (
	foldTurn  = "catch-up.lock"
	learnTurn = "learn.lock"
)

// TurnFiles are all of them.
var TurnFiles = []string{foldTurn, learnTurn, delivery.SweepTurn}
