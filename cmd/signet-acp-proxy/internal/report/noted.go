package report

import (
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// Noted prints what an agent noted of a session, and what that cost.
func Noted(n runtime.Noted, s term.Screen) error {
	of := []string{n.Agent}
	if n.Model != "" {
		of = append(of, n.Model)
	}
	if n.Tokens != nil {
		of = append(of, telemetry.Figure(*n.Tokens)+" tokens")
	}
	if n.Cost != nil {
		of = append(of, telemetry.Prices(map[string]float64{n.Currency: *n.Cost}))
	}
	head := fmt.Sprintf("%s (%s)", n.Session, strings.Join(of, ", "))
	if _, err := fmt.Fprintln(s.W, s.Paint(term.Bold, chars.Printable(head))); err != nil {
		return err
	}
	if n.Error != "" {
		_, err := fmt.Fprintln(s.W, "  no notes: "+chars.Printable(n.Error))
		return err
	}
	return listNotes(n.Notes, s)
}

// listNotes prints the notes of a session, each with what it is about.
func listNotes(notes []embedded.Memory, s term.Screen) error {
	if len(notes) == 0 {
		_, err := fmt.Fprintln(s.W, "  nothing worth noting")
		return err
	}
	for _, m := range notes {
		text := fmt.Sprintf("%s: %s", m.Type, m.Content)
		if len(m.Files) > 0 {
			text += " [" + strings.Join(m.Files, ", ") + "]"
		}
		if m.ReplacedBy != "" {
			text += " (out of date)"
		}
		if _, err := fmt.Fprintln(s.W, "  "+term.Wrap(chars.Printable(text), s.Width, 2)); err != nil {
			return err
		}
	}
	return nil
}
