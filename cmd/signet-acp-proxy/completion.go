package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints a shell's completion script, made from the command line's own grammar.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (cmd *completionCommand) Run(app *kong.Kong, std stdio) error {
	var script string
	switch words := completions(app.Model.Node, ""); cmd.Shell {
	case "fish":
		script = fishScript(words)
	case "zsh":
		script = "autoload -U +X bashcompinit && bashcompinit\n" + bashScript(words)
	default:
		script = bashScript(words)
	}
	_, err := fmt.Fprint(std.out, script)
	return err
}

// A place is where a word may be completed: after these commands.
type place struct {
	path  string // "memory add"
	words []string
}

// completions lists what may follow each command.
func completions(node *kong.Node, path string) []place {
	here := place{path: path}
	var below []place
	for _, child := range node.Children {
		if child.Hidden && child.Name != "relay" {
			continue
		}
		if child.Name == "relay" {
			for _, f := range child.Flags {
				here.words = append(here.words, "--"+f.Name)
			}
			continue
		}
		here.words = append(here.words, child.Name)
		below = append(below, completions(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	for _, arg := range node.Positional {
		here.words = append(here.words, arg.EnumSlice()...)
	}
	for _, flags := range node.AllFlags(true) {
		for _, f := range flags {
			here.words = append(here.words, "--"+f.Name)
		}
	}
	here.words = slices.DeleteFunc(here.words, func(word string) bool { return word == "" })
	slices.Sort(here.words)
	here.words = slices.Compact(here.words)
	return append([]place{here}, below...)
}

func bashScript(places []place) string {
	var b strings.Builder
	b.WriteString(`_signet_acp_proxy() {
	local path="" word
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case "$word" in --) return ;; -*) ;; *) path="${path:+$path }$word" ;; esac
	done
	case "$path" in
`)
	for _, p := range places {
		fmt.Fprintf(&b, "\t%q) COMPREPLY=($(compgen -W %q -- \"${COMP_WORDS[COMP_CWORD]}\")) ;;\n", p.path, strings.Join(p.words, " "))
	}
	b.WriteString("\tesac\n}\ncomplete -o default -F _signet_acp_proxy signet-acp-proxy\n")
	return b.String()
}

func fishScript(places []place) string {
	var b strings.Builder
	b.WriteString(`function __signet_acp_proxy_at
	set -l words (commandline -opc)[2..]
	contains -- -- $words; and return 1
	test "$argv" = (string join " " -- (string match -v -- "-*" $words))
end
`)
	for _, p := range places {
		fmt.Fprintf(&b, "complete -c signet-acp-proxy -f -n '__signet_acp_proxy_at %s' -a '%s'\n", p.path, strings.Join(p.words, " "))
	}
	return b.String()
}
