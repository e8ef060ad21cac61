package telemetry

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Price is the cost in words, "" where nobody reported one: 1.25 USD.
func (s Sum) Price() string {
	var prices []string
	for currency, cost := range s.Costs {
		prices = append(prices, price(cost, currency))
	}
	if s.Cost != nil {
		currency := ""
		if s.Currency != nil {
			currency = *s.Currency
		}
		prices = append(prices, price(*s.Cost, currency))
	}
	slices.Sort(prices)
	return strings.Join(prices, " + ")
}

// price has at least two places, and where that is too little two that say something.
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

// Bytes is a size in words: 1.1 KB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
