package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// Print shows findings to a person, each with its fix.
func Print(all []Finding, s term.Screen) error {
	colours := map[string]string{Fine: term.Green, Note: term.Yellow, Problem: term.Red}
	var b strings.Builder
	for _, one := range all {
		head := fmt.Sprintf("%-7s  %-11s  ", one.Status, one.Check)
		text := term.Wrap(term.Printable(one.Text), s.Width, len(head))
		if one.Fix != "" {
			text += "\n" + strings.Repeat(" ", len(head)) + term.Wrap("→ "+term.Printable(one.Fix), s.Width, len(head))
		}
		b.WriteString(s.Paint(colours[one.Status], head[:7]) + head[7:] + text + "\n")
	}
	_, err := io.WriteString(s.W, b.String())
	return err
}
