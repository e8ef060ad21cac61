package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// Settings prints every value and where it came from.
func Settings(all []config.ShownSetting, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "SETTING"}, {Title: "VALUE", Least: 12}, {Title: "FROM", Least: 7}, {Title: "ENVIRONMENT", Spare: 1},
	}}
	for _, one := range all {
		t.Add(one.Name, fmt.Sprint(one.Value), one.Source, one.Environment)
	}
	return t.Print(s)
}

// Diff prints a unified diff.
func Diff(text string, s term.Screen) error {
	colours := map[byte]string{'-': term.Red, '+': term.Green}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		b.WriteString(s.Paint(colours[line[0]], line) + "\n")
	}
	_, err := io.WriteString(s.W, b.String())
	return err
}
