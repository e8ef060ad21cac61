package doctor

import (
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
)

// clients checks our entries in clients' files.
func (e *examination) clients() []finding {
	var found []finding
	for _, name := range clients.Names() {
		file, err := clients.Open(name)
		if err != nil {
			found = append(found, named(name, problem("", "%v", err))...)
			continue
		}
		if !file.Exists {
			continue
		}
		entries, err := file.Entries()
		if err != nil {
			found = append(found, named(name, problem("correct it", "%v", err))...)
			continue
		}
		stale, good := 0, []string{}
		for _, entry := range entries {
			if !entry.Ours() {
				continue
			}
			if why, fix := e.problemOf(name, entry); why != "" {
				stale++
				found = append(found, named(name, problem(fix, "%s:%d: %s: %s", file.Path, entry.Line, entry.Name,
					why))...)
				continue
			}
			good = append(good, entry.Name)
		}
		switch {
		case len(good) > 0:
			found = append(found, named(name, fine("%s in %s", strings.Join(good, ", "), file.Path))...)
		case stale == 0:
			none := note("signet-acp-proxy setup "+name, "no entry of ours in %s", file.Path)
			found = append(found, named(name, none)...)
		}
	}
	if found == nil {
		fix := clients.WithoutClient(e.c)
		if here := clients.Found(); len(here) > 0 {
			fix = "signet-acp-proxy setup " + here[0]
			if len(clients.Installed(e.c)) == 0 {
				fix += " NAME"
			}
		}
		return note(fix, "no client is configured here")
	}
	return found
}

// problemOf says what is wrong with an entry of ours, and how to fix it; "" for nothing.
func (e *examination) problemOf(client string, entry clients.Entry) (why, fix string) {
	again := fmt.Sprintf("signet-acp-proxy setup %s --remove %[2]s, then signet-acp-proxy setup %[1]s %[2]s", client,
		strings.TrimPrefix(entry.Name, clients.Prefix))
	name, command := clients.HarnessOf(entry.Command)
	switch {
	case entry.Argv:
		return "argv makes acpx 0.7.0 fail for every agent", again
	case !clients.OnPath(entry.Command[0]):
		return entry.Command[0] + " no longer exists", again
	case name == "" && len(command) == 0:
		return "names no harness", again
	case len(command) > 0:
		return "", ""
	}
	if _, known := e.c.Profile(name); !known {
		return fmt.Sprintf("unknown agent %q", name), again
	}
	return "", ""
}
