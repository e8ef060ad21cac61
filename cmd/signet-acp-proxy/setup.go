package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// setupCommand puts agents into a client's configuration.
type setupCommand struct {
	client string
	agents []string
	dryRun bool
	remove bool
}

func newSetup(f *Flags, std stdio) *cobra.Command {
	var s setupCommand
	clients := []string{"acpx", "zed", "print"}
	cmd := &cobra.Command{
		Use: "setup CLIENT [NAME…]", Short: "Put agents with a memory into a client's configuration.",
		Long: "Put agents with a memory into a client's configuration. CLIENT is acpx, zed, or print for what goes into any other client. " +
			"NAME is a harness; without one all those that are found on this machine are meant.",
		Args: firstOf(clients),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return clients, cobra.ShellCompDirectiveNoFileComp
			}
			return agentNames(f)(cmd, args, typed)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s.client, s.agents = args[0], args[1:]
			return s.run(f, std)
		},
	}
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "Show the change, make none.")
	cmd.Flags().BoolVar(&s.remove, "remove", false, "Take out what we put in; all of it if none is named.")
	return cmd
}

func (cmd *setupCommand) run(f *Flags, std stdio) error {
	c, err := loadConfig(f)
	if err != nil {
		return err
	}
	names, err := cmd.names(c)
	if err != nil {
		return err
	}
	if cmd.client == "print" {
		return cmd.print(c, names, std)
	}
	file, err := openClient(cmd.client)
	if err != nil {
		return err
	}
	if cmd.remove {
		err = cmd.takeOut(file, names, std)
	} else {
		err = cmd.putIn(c, file, names, std)
	}
	if err != nil || !file.changed() {
		return err
	}
	if cmd.dryRun {
		return printChange(file, std)
	}
	if err := file.save(); err != nil {
		return err
	}
	std.say("written: %s", file.path)
	return nil
}

// names gives the harnesses that are meant.
func (cmd *setupCommand) names(c *Config) ([]string, error) {
	var names []string
	for _, name := range cmd.agents {
		name = strings.TrimPrefix(name, entryPrefix)
		if _, known := c.profile(name); !known {
			return nil, unknownAgent(c, name)
		}
		names = append(names, canonical(name))
	}
	if len(cmd.agents) == 0 && !cmd.remove {
		for _, name := range c.agentNames() {
			if c.installed(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// installed reports whether a harness is on this machine: its adapter, or the program that the adapter is for. What npx
// can fetch is on every machine and says nothing.
func (c *Config) installed(name string) bool {
	p, _ := c.profile(name)
	programs := []string{p.Name}
	if len(p.Installed) > 0 {
		programs = append(programs, p.Installed[0])
	}
	if program := p.Command[0]; program != "npx" && program != "uvx" {
		programs = append(programs, program)
	}
	return slices.ContainsFunc(programs, onPath)
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// entryCommand is how a client starts us for a harness. The harness's own command stands in it, for acpx goes by
// claude-agent-acp among the arguments, and does for Claude what it otherwise would not.
func (c *Config) entryCommand(name string) []string {
	command := []string{ourProgram(), "--agent", name}
	if len(c.agent(name).Command) > 0 { // the configuration may change
		return command
	}
	p, _ := c.profile(name)
	own := p.Command
	if len(p.Installed) > 0 && onPath(p.Installed[0]) {
		own = p.Installed
	}
	return append(append(command, "--"), own...)
}

// ourProgram is how others start us: by name where PATH has us, else by path.
func ourProgram() string {
	self, err := os.Executable()
	if err != nil {
		return "signet-acp-proxy"
	}
	if found, err := exec.LookPath("signet-acp-proxy"); err == nil && sameFile(found, self) {
		return "signet-acp-proxy"
	}
	return self
}

func sameFile(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

func (cmd *setupCommand) putIn(c *Config, file *clientConfig, names []string, std stdio) error {
	have, err := file.entries()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		std.say("no harness was found: name the ones to add, of %s", strings.Join(c.agentNames(), ", "))
		return nil
	}
	for _, name := range slices.Backward(names) { // each goes in front
		key := entryPrefix + name
		if i := slices.IndexFunc(have, func(e entry) bool { return e.name == key }); i >= 0 {
			// Its command may be the name of sessions: acpx finds them by it.
			if have[i].ours() {
				std.say("%s is there already", key)
			} else {
				std.say("%s is there already and not ours: left alone", key)
			}
			continue
		}
		command := c.entryCommand(name)
		if cmd.client == "zed" && command[0] == "signet-acp-proxy" { // a desktop's PATH is not a shell's
			if path, err := exec.LookPath(command[0]); err == nil {
				command[0] = path
			}
		}
		if err := file.add(key, command); err != nil {
			return err
		}
		if !cmd.dryRun {
			std.say("%s added: %s", key, strings.Join(command, " "))
		}
	}
	return nil
}

func (cmd *setupCommand) takeOut(file *clientConfig, names []string, std stdio) error {
	have, err := file.entries()
	if err != nil {
		return err
	}
	taken := 0
	for _, e := range have {
		name, prefixed := strings.CutPrefix(e.name, entryPrefix)
		if !prefixed || !e.ours() || len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		taken++
		if err := file.remove(e.name); err != nil {
			return err
		}
		if !cmd.dryRun {
			std.say("%s removed", e.name)
		}
	}
	if taken == 0 {
		std.say("nothing of ours is in %s", file.path)
	}
	return nil
}

// print prints entries for any other client.
func (cmd *setupCommand) print(c *Config, names []string, std stdio) error {
	if cmd.remove {
		return exitError{exitUsage, errors.New("print writes no file: there is nothing to remove")}
	}
	if len(names) == 0 {
		std.say("no harness was found: name one of %s", strings.Join(c.agentNames(), ", "))
		return nil
	}
	var lines []string
	for _, name := range names {
		lines = append(lines, "  "+quoted(entryPrefix+name)+": {"+entryFields(c.entryCommand(name))+"}")
	}
	_, err := fmt.Fprintf(std.out, "{\n%s\n}\n", strings.Join(lines, ",\n"))
	return err
}

// printChange prints the lines that would go and come.
func printChange(file *clientConfig, std stdio) error {
	before, after := strings.SplitAfter(string(file.read), "\n"), strings.SplitAfter(string(file.file.text), "\n")
	if string(file.file.text) == emptyFile {
		after = nil
	}
	s := screenOn(std.out)
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %[1]s\n", file.path)
	for _, l := range diff(before, after) {
		text := l.text
		if text == "" {
			continue
		}
		text = strings.TrimRight(text, "\r\n")
		switch l.sign {
		case '-':
			text = s.paint(red, "-"+text)
		case '+':
			text = s.paint(green, "+"+text)
		default:
			text = " " + text
		}
		b.WriteString(text + "\n")
	}
	_, err := io.WriteString(s.w, b.String())
	return err
}

type diffLine struct {
	sign byte // '-', '+' or ' '
	text string
}

// diff gives the shortest way from one text to another by lines. Settings are small enough for a table of both.
func diff(before, after []string) []diffLine {
	common := make([][]int, len(before)+1) // of what follows
	for i := range common {
		common[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []diffLine
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			lines = append(lines, diffLine{' ', before[i]})
			i++
			j++
		case j == len(after) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, diffLine{'-', before[i]})
			i++
		default:
			lines = append(lines, diffLine{'+', after[j]})
			j++
		}
	}
	return lines
}
