package memory

import (
	"os"
	"path/filepath"
	"strings"
)

// Repository returns where a project's repository is from, as its configuration names it: host and path, "" for none.
func Repository(project string) string {
	folder := filepath.Join(project, ".git")
	if link, err := os.ReadFile(folder); err == nil { // a submodule
		folder = strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir: "))
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(project, folder)
		}
	}
	settings, err := os.ReadFile(filepath.Join(folder, "config"))
	if err != nil || project == "" {
		return ""
	}
	_, origin, _ := strings.Cut(string(settings), `[remote "origin"]`)
	origin, _, _ = strings.Cut(origin, "\n[")
	for line := range strings.Lines(origin) {
		if name, address, found := strings.Cut(line, "="); found && strings.TrimSpace(name) == "url" {
			return hostAndPath(strings.TrimSpace(address))
		}
	}
	return ""
}

// hostAndPath leaves out of an address who calls it, and how: git@host:a/b.git and https://token@host/a/b are host/a/b.
func hostAndPath(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	}
	host, path, found := strings.Cut(rest, "/")
	if !ok { // git@host:path
		if before, after, scp := strings.Cut(rest, ":"); scp && !strings.Contains(before, "/") {
			host, path, found = before, after, true
		}
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if !found || len(host) < 2 || host[0] == '.' || scheme == "file" { // a folder of this machine
		return ""
	}
	return host + "/" + strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}
