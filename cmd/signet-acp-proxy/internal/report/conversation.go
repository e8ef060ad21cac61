package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/view"
)

// Conversation prints what was said in a session, and which files it touched.
func Conversation(s runtime.Listed, said []runtime.Entry, files []embedded.FileTouched, screen term.Screen) error {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	head := fmt.Sprintf("%s · %s · %s · %s", s.ACPID, runtime.HarnessName(s.Harness), memory.HomeShort(s.Cwd),
		term.Count(s.Turns, "turn"))
	p("%s\n", screen.Paint(term.Bold, term.Wrap(chars.Printable(head), screen.Width, 0)))
	turn := 0
	for _, e := range said {
		if e.Turn != turn {
			turn = e.Turn
			p("\n%s\n", screen.Paint(term.Faint, fmt.Sprintf("── %d ── %s", turn, term.Local(e.At))))
		}
		b.WriteString(entry(s, e, screen))
	}
	if len(said) == 0 {
		p("\nno messages\n")
	}
	if len(files) > 0 {
		p("\n%s\n", screen.Paint(term.Bold, "Files"))
	}
	for _, f := range files {
		p("%s\n", body(fmt.Sprintf("%-6s %s", f.Did, chars.Printable(f.Path)), "  ", screen))
	}
	_, err := io.WriteString(screen.W, b.String())
	return err
}

// Said prints one entry of a conversation.
func Said(e runtime.Entry, s runtime.Listed, screen term.Screen) error {
	_, err := io.WriteString(screen.W, entry(s, e, screen))
	return err
}

func entry(s runtime.Listed, e runtime.Entry, screen term.Screen) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	switch e.Role {
	case runtime.User:
		who := "You"
		if e.AskedFields != nil {
			who = chars.Printable(e.By) + ", which delegated"
		}
		p("%s\n%s\n", screen.Paint(term.Bold, who), body(e.Text, "  ", screen))
	case runtime.Assistant:
		p("%s\n", screen.Paint(term.Green, cmp.Or(chars.Printable(runtime.HarnessName(s.Harness)), "Agent")))
		if e.Text != "" {
			p("%s\n", body(e.Text, "  ", screen))
		}
		if note := view.HowItEnded(e.Ended, e.Stop, e.Code, e.Truncated); note != "" {
			p("  %s\n", screen.Paint(term.Yellow, "("+chars.Printable(note)+")"))
		}
	case runtime.Tool:
		text := fmt.Sprintf("· %s: %s (%s)", cmp.Or(e.Kind, "tool"), e.Text, e.Status)
		if len(e.Locations) > 0 {
			text += " " + strings.Join(e.Locations, ", ")
		}
		p("%s\n", body(chars.Printable(text), "    ", screen))
	case runtime.Context:
		title := fmt.Sprintf("inserted by signet-acp-proxy, from %s (%s)", e.Source, e.Outcome)
		box := "  ┌ " + term.Wrap(title, max(0, screen.Width-4), 0)
		for line := range strings.Lines(strings.ReplaceAll(box, "\n", "\n  │ ") + "\n" +
			body(strings.TrimSpace(e.Text), "  │ ", screen)) {
			p("%s\n", screen.Paint(term.Faint, strings.TrimSuffix(line, "\n")))
		}
	}
	return b.String()
}

// body indents text by a margin, and wraps it at the screen's width.
func body(text, margin string, s term.Screen) string {
	var b strings.Builder
	for _, line := range strings.Split(term.Visible(strings.Trim(text, "\n")), "\n") {
		if s.Width == 0 || term.Width(margin+line) <= s.Width {
			b.WriteString(strings.TrimRight(margin+line, " ") + "\n")
			continue
		}
		words := strings.TrimLeft(line, " ")
		margin := margin + line[:len(line)-len(words)]
		for part := range strings.Lines(term.Wrap(words, s.Width-term.Width(margin), 0)) {
			b.WriteString(margin + strings.TrimSuffix(part, "\n") + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
