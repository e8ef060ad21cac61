package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

const notReported = "–"

// Usage prints sums of usage.
func Usage(sums []telemetry.Sum, by string, s term.Screen) error {
	t := &term.Table{Columns: []term.Column{
		{Title: strings.ToUpper(by), Least: 12, Left: by == telemetry.ByProject}, {Title: "SESSIONS", Spare: 2},
		{Title: "TURNS", Spare: 3}, {Title: "REPORTED", Spare: 1}, {Title: "TOKENS IN"}, {Title: "OUT"}, {Title: "COST"},
		{Title: "MEMORY", Spare: 4},
	}}
	number := func(n *int64) string {
		if n == nil {
			return notReported
		}
		return strconv.FormatInt(*n, 10)
	}
	sums = slices.Clone(sums)
	if by == telemetry.ByProject || by == telemetry.BySession {
		sums = telemetry.Largest(sums)
	}
	for i := range sums {
		u := &sums[i]
		if by == telemetry.ByProject {
			u.Key = cmp.Or(memory.HomeShort(u.Key), "(none)")
		}
		t.Add(u.Key, strconv.Itoa(u.Sessions), strconv.Itoa(u.Turns), strconv.Itoa(u.Counted), number(u.InputTokens),
			number(u.OutputTokens), cmp.Or(u.Price(), notReported), telemetry.Bytes(u.MemoryBytes))
	}
	if err := t.Print(s); err != nil {
		return err
	}
	if slices.ContainsFunc(sums, func(u telemetry.Sum) bool { return u.InputTokens == nil || u.Price() == "" }) {
		fmt.Fprintln(s.W, notReported+" = not reported")
	}
	for _, u := range sums {
		for _, words := range []string{telemetry.OfUse(u.Uses), u.Notes.String()} {
			if words != "" {
				fmt.Fprintf(s.W, "%s: %s\n", u.Key, words)
			}
		}
	}
	return nil
}

// Event prints an event on one line, in words.
func Event(e telemetry.Event, s term.Screen) error {
	turn := ""
	if e.Turn > 0 {
		turn = strconv.Itoa(e.Turn)
	}
	kind := strings.ReplaceAll(e.Kind, "_", " ")
	line := fmt.Sprintf("%s  %3s  %-18s  %s", term.Local(e.At), turn, kind, inWords(e.Data))
	if line = chars.Printable(line); s.Width > 0 {
		line = term.Cut(line, s.Width)
	}
	_, err := fmt.Fprintln(s.W, strings.TrimRight(line, " "))
	return err
}

// inWords is an object's fields as text: "code 1, tool (status failed)". What is empty is left out.
func inWords(fields map[string]json.RawMessage) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := string(fields[name])
		var inner map[string]json.RawMessage
		var list []string
		switch { // in this order: null is all of them, and empty
		case json.Unmarshal(fields[name], &inner) == nil:
			if text = inWords(inner); text != "" {
				text = "(" + text + ")"
			}
		case json.Unmarshal(fields[name], &list) == nil:
			text = strings.Join(list, " ")
		case strings.HasPrefix(text, `"`):
			_ = json.Unmarshal(fields[name], &text) // it was a valid value of an object
		}
		if text != "" {
			all = append(all, name+" "+text)
		}
	}
	return strings.Join(all, ", ")
}
