// Command man writes the manual page of the program, from its own help:
//
//	man PROGRAM VERSION >signet-acp-proxy.1
package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man PROGRAM VERSION")
		os.Exit(2)
	}
	page, err := page(os.Args[2], func(args ...string) (string, error) {
		text, err := exec.Command(os.Args[1], append(args, "-h")...).Output()
		return string(text), err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
	fmt.Print(page)
}

// page makes the page of what help says of the program and of each of its commands.
func page(version string, help func(args ...string) (string, error)) (string, error) {
	whole, err := help()
	if err != nil {
		return "", err
	}
	about, rest, _ := strings.Cut(whole, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH SIGNET-ACP-PROXY 1 \"\" %q\n.SH NAME\nsignet-acp-proxy \\- %s\n", version,
		escaped(strings.ToLower(about[:1])+strings.TrimSuffix(about[1:], ".")))
	fmt.Fprintf(&b, ".SH SYNOPSIS AND COMMANDS\n.nf\n%s\n.fi\n", escaped(strings.TrimSpace(rest)))
	for _, name := range commands(whole) {
		text, err := help(name)
		if err != nil {
			return "", fmt.Errorf("%s -h: %w", name, err)
		}
		fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", strings.ToUpper(name), escaped(strings.TrimSpace(text)))
	}
	return b.String(), nil
}

var command = regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)

// commands are the names in the list of commands that help prints.
func commands(help string) (names []string) {
	_, list, _ := strings.Cut(help, "\nCommands ")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, found := range command.FindAllStringSubmatch(list, -1) {
		names = append(names, found[1])
	}
	return names
}

// escaped is text that troff prints as it is.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return regexp.MustCompile(`(?m)^([.'])`).ReplaceAllString(text, `\&$1`)
}
