package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Price is the cost as text, such as 1.25 USD; "" if none was reported.
func (s Sum) Price() string {
	if s.Cost == nil {
		return Prices(s.Costs)
	}
	currency := ""
	if s.Currency != nil {
		currency = *s.Currency
	}
	return price(*s.Cost, currency)
}

// Prices is a cost in several currencies as text: 0.50 EUR + 1.25 USD.
func Prices(costs map[string]float64) string {
	var all []string
	for _, currency := range slices.Sorted(maps.Keys(costs)) {
		all = append(all, price(costs[currency], currency))
	}
	return strings.Join(all, " + ")
}

// price is a cost as text, with two decimal places, or two significant digits if it is small.
func price(cost float64, currency string) string {
	text := strconv.FormatFloat(cost, 'f', 2, 64)
	if cost > 0 && cost < 0.1 {
		text = strconv.FormatFloat(cost, 'g', 2, 64)
		if strings.Contains(text, "e") {
			text = "<0.0001"
		}
	}
	return strings.TrimSpace(text + " " + currency)
}

// Bytes is a size as text: 1.1 KB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Figure is a number as text with thousands separators: 12,345.
func Figure(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// String says in words what notes cost; "" where none was asked for.
func (n *Notes) String() string {
	if n == nil || n.Asked == 0 {
		return ""
	}
	text := fmt.Sprintf("notes: asked %d times, %d kept", n.Asked, n.Notes)
	if n.Asked == 1 {
		text = fmt.Sprintf("notes: asked once, %d kept", n.Notes)
	}
	if n.Tokens != nil {
		text += ", " + Figure(*n.Tokens) + " tokens"
	}
	if prices := Prices(n.Costs); prices != "" {
		text += ", " + prices
	}
	return text
}

// ShareUsed says how many of the recalled items were seen to be used: "3 recalled, 1 used (33 %)", "" where
// none was recalled. Rules do not count.
func ShareUsed(all map[string]correlation.Record) string {
	told, used := 0, 0
	for _, kind := range []string{correlation.UseFile, correlation.UseWords} {
		told, used = told+all[kind].Told, used+all[kind].Used
	}
	if told == 0 {
		return ""
	}
	return fmt.Sprintf("%d recalled, %d used (%d %%)", told, used, 100*used/told)
}

// OfUse says what became of what memory told, "" for nothing. A use that leaves no trace is not seen.
func OfUse(all map[string]correlation.Record) string {
	var kinds, parts []string
	for _, kind := range []struct{ name, plural string }{
		{correlation.UseFile, "files"}, {correlation.UseWords, "notes"},
	} {
		if n := all[kind.name]; n.Told > 0 {
			kinds = append(kinds, fmt.Sprintf("%s %d of %d", kind.plural, n.Used, n.Told))
		}
	}
	if share := ShareUsed(all); share != "" {
		parts = append(parts, share+": "+strings.Join(kinds, ", "))
	}
	if n := all[correlation.UseRule]; n.Told > 0 {
		parts = append(parts, fmt.Sprintf("rules: %d recalled, %d repeated by the user", n.Told, n.Again))
	}
	return strings.Join(parts, "; ")
}
