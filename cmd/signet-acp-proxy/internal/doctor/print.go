package doctor

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// narrow is the width in columns below which findings are not printed in two columns.
const narrow = 64

// Print shows findings to a person, each with its fix.
func Print(all []Finding, s term.Screen) error {
	home, _ := memory.Home()
	short := func(text string) string {
		if home != "" {
			text = strings.ReplaceAll(text, home+string(filepath.Separator), "~"+string(filepath.Separator))
		}
		return term.ToType(term.Printable(text))
	}
	colours := map[string]string{Fine: term.Green, Note: term.Yellow, Problem: term.Red}
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
