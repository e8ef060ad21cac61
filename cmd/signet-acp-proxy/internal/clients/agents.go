package clients

import (
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// program is the name of our program on PATH.
const program = "signet-acp-proxy"

// Installed lists the harnesses that are on this machine, in alphabetical order: their adapter, or the program that it
// adapts, is on PATH. What npx can download does not count.
func Installed(c *config.Config) []string {
	var names []string
	for _, name := range c.AgentNames() {
		p, _ := c.Profile(name)
		programs := []string{p.Name}
		if len(p.Installed) > 0 {
			programs = append(programs, p.Installed[0])
		}
		if first := p.Command[0]; first != "npx" && first != "uvx" {
			programs = append(programs, first)
		}
		if slices.ContainsFunc(programs, OnPath) {
			names = append(names, name)
		}
	}
	return names
}

// OnPath reports whether a program can be started by this name.
func OnPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// Command returns the command line by which a client starts us for a harness. It contains the harness's own command,
// because acpx looks for claude-agent-acp among the arguments, and treats Claude differently without it.
func Command(c *config.Config, name string) []string {
	command := []string{ourProgram(), "--agent", name}
	if len(c.Agent(name).Command) > 0 { // it is looked up at each start, because it may change
		return command
	}
	p, _ := c.Profile(name)
	return append(append(command, "--"), p.CommandHere()...)
}

// ourProgram returns how others start us: by name if PATH finds us, else by path.
func ourProgram() string {
	self, err := os.Executable()
	if err != nil {
		return program
	}
	if found, err := exec.LookPath(program); err == nil && sameFile(found, self) {
		return program
	}
	return self
}

func sameFile(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// HarnessOf returns the harness that a command line of ours names: by --agent, by its command after --, or by both.
func HarnessOf(ours []string) (name string, command []string) {
	for i := 1; i < len(ours); i++ {
		switch value, given := strings.CutPrefix(ours[i], "--agent="); {
		case ours[i] == "--":
			return name, ours[i+1:]
		case given:
			name = value
		case ours[i] == "--agent" && i+1 < len(ours):
			i++
			name = ours[i]
		}
	}
	return name, nil
}
