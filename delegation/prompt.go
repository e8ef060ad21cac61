package delegation

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/delegation/scope"
)

// wording begins what stands behind the task in a prompt. It stands there once: an item is one line.
const wording = "\n\nThis was delegated to you by another agent"

// Task returns the task in a child's prompt, as the relay has it before the child: the rest is said by nobody.
func Task(prompt string) string {
	if at := strings.LastIndex(prompt, wording); at >= 0 {
		return prompt[:at]
	}
	return prompt
}

// prompt returns what the child is told: the task, what it is responsible for and what it is to leave alone. Of the
// caller's conversation it knows only what the caller wrote into the task; identity and memories come from the proxy in
// front of it. ask says that the caller's user may be asked for what it is not granted.
func prompt(d Delegation, task string, ask bool) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(task))
	b.WriteString(wording)
	if d.Harness != "" {
		b.WriteString(" (" + d.Harness + ")")
	}
	b.WriteString(". You are responsible for:\n")
	for _, item := range scope.Items(d.Scope) {
		b.WriteString("- " + item + "\n")
	}
	b.WriteString("\nLeave the caller's own part alone:\n")
	for _, item := range scope.Items(d.Kept) {
		b.WriteString("- " + item + "\n")
	}
	if d.Mode == Edit {
		b.WriteString("\nYou work in your own copy of the files; change files only in your working folder. " +
			"Your changes come back as a branch.")
	} else {
		b.WriteString("\nRead only: change no file. Your changes are discarded.")
	}
	asked := "No one can answer a question or allow anything:"
	if ask {
		asked = "No one can answer a question. A person may be asked for a permission:"
	}
	b.WriteString(" " + asked + " a refusal is final. Your last message is the result that the caller gets: " +
		"put everything that matters into it.\n")
	return b.String()
}
