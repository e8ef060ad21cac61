package view

import (
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

const minDays, maxDays = 30, 60 // how many days a chart shows

// A chart is a bar chart with a bar for each day.
type chart struct {
	Title, Summary string
	Most           string // the value of the highest bar, in words
	From, To       time.Time
	Bars           []bar
	Width          int
	Legend         []string // of the parts of a bar, the lowest first
}

// Sizes in units of the SVG picture.
const (
	barWidth    = 12
	chartHeight = 120
)

// A bar is a day. Its parts are stacked.
type bar struct {
	Day   string // such as 2026-11-22
	Title string // the day and its figures
	X     int
	Parts []part
}

// A part of a bar; N is its place among the parts, the lowest first.
type part struct{ N, Y, Height int }

// newChart makes a chart of the values that of returns for each day, one for each entry of legend; words formats a
// value. Where all are zero it has no bars.
func newChart(title string, legend []string, days []telemetry.Sum, of func(telemetry.Sum) []float64,
	words func(float64) string) chart {
	c := chart{Title: title, Legend: legend}
	most, sum := 0.0, 0.0
	for _, d := range days {
		high := 0.0
		for _, v := range of(d) {
			high += v
		}
		most, sum = max(most, high), sum+high
	}
	if most == 0 {
		return c
	}
	for i, d := range days {
		b := bar{Day: d.Key, Title: d.Key + ":", X: i * barWidth}
		y := chartHeight
		for n, v := range of(d) {
			height := int(v / most * chartHeight)
			if v > 0 {
				height = max(height, 1) // so that it can be seen
			}
			y -= height
			if height > 0 {
				b.Parts = append(b.Parts, part{n, y, height})
			}
			b.Title += " " + words(v)
			if len(legend) > 0 {
				b.Title += " " + legend[n]
			}
		}
		c.Bars = append(c.Bars, b)
	}
	c.Width = len(days) * barWidth
	c.Most = words(most)
	c.From, _ = time.ParseInLocation(time.DateOnly, days[0].Key, time.Local)
	c.To, _ = time.ParseInLocation(time.DateOnly, days[len(days)-1].Key, time.Local)
	c.Summary = fmt.Sprintf("%s on %s: %s in all, at most %s a day.", title, count(len(days), "day", "days"),
		words(sum), words(most))
	return c
}
