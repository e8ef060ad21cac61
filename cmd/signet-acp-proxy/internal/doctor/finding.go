package doctor

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Statuses of findings.
const (
	statusFine    = "ok"
	statusNote    = "note"
	statusProblem = "problem"
)

// A finding is what one check found.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, note or problem
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to do, as a command where there is one
}

// fine, note and problem make a check's only finding. Examine names the check.
func fine(format string, args ...any) []finding {
	return []finding{{"", statusFine, fmt.Sprintf(format, args...), ""}}
}

func note(fix, format string, args ...any) []finding {
	return []finding{{"", statusNote, fmt.Sprintf(format, args...), fix}}
}

func problem(fix, format string, args ...any) []finding {
	return []finding{{"", statusProblem, fmt.Sprintf(format, args...), fix}}
}

// named returns findings as those of a check, except what another one has found.
func named(check string, all []finding) []finding {
	for i := range all {
		if all[i].Check == "" {
			all[i].Check = check
		}
	}
	return all
}

// Problems counts what is wrong.
func Problems(all []finding) int {
	n := 0
	for _, one := range all {
		if one.Status == statusProblem {
			n++
		}
	}
	return n
}

// narrow is the width in columns below which findings are not printed in two columns.
const narrow = 64

// Print shows findings to a person, each with its fix.
func Print(all []finding, s term.Screen) error {
	home, _ := memory.Home()
	short := func(text string) string {
		if home != "" {
			text = strings.ReplaceAll(text, home+string(filepath.Separator), "~"+string(filepath.Separator))
		}
		return term.ToType(chars.Printable(text))
	}
	colours := map[string]string{statusFine: term.Green, statusNote: term.Yellow, statusProblem: term.Red}
	var b strings.Builder
	for _, one := range all {
		head := fmt.Sprintf("%-7s  %-11s  ", one.Status, one.Check)
		indent := len(head)
		if 0 < s.Width && s.Width < narrow {
			indent = 4
			head = strings.TrimRight(head, " ") + "\n" + strings.Repeat(" ", indent)
		}
		text := term.Wrap(short(one.Text), s.Width, indent)
		if one.Fix != "" {
			text += "\n" + strings.Repeat(" ", indent) + term.Wrap("→ "+short(one.Fix), s.Width, indent)
		}
		b.WriteString(s.Paint(colours[one.Status], head[:7]) + head[7:] + text + "\n")
	}
	_, err := io.WriteString(s.W, b.String())
	return err
}
