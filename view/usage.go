package view

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

const (
	leastDays, mostDays = 30, 60 // bars of a chart
	mostRows            = 30     // of a table
)

// A Usage is what was used, and what memory itself cost.
type Usage struct {
	Charts []Chart
	Tables []Table
	Memory string // what memory cost, in words; "" if there was none
	Silent []string
}

// A Table is what was used by one of several things.
type Table struct {
	By, Title string // harness, Harness
	Rows      []Row
	More      int // rows that are left out
}

// A Row is what one of them used, in words. "" is not reported.
type Row struct {
	Key                    string
	Session                *Session // of a table by session, where it is on the page
	Sessions, Turns        string
	Input, Output, Cost    string
	Memory                 string
	Unreported, TurnsTotal int // of so many turns nobody reported tokens
}

// A Chart is bars, one a day.
type Chart struct {
	Title, Summary string
	Most           string // what the highest line stands for
	From, To       time.Time
	Bars           []Bar
	Width          int
	Legend         []string // of the parts of a bar, the lowest first
}

// Chart sizes, in units of the picture.
const (
	barWidth    = 12
	chartHeight = 120
)

// A Bar is a day. Its parts stand on each other.
type Bar struct {
	Title string // the day and its figures
	X     int
	Parts []Part
}

// A Part of a bar, the lowest first.
type Part struct{ N, Y, Height int }

func (p *Page) used(ctx context.Context, db *sql.DB, books *telemetry.Books) error {
	days := calendar(books.Sums(telemetry.ByDay))
	p.Usage.Charts = slices.DeleteFunc([]Chart{
		chart("Tokens", []string{"in", "out"}, days, func(s telemetry.Sum) []float64 {
			return []float64{float(s.InputTokens), float(s.OutputTokens)}
		}, func(v float64) string { return telemetry.Figure(int64(v)) }),
		chart("Cost", nil, days, func(s telemetry.Sum) []float64 {
			if s.Cost == nil {
				return []float64{0}
			}
			return []float64{*s.Cost}
		}, func(v float64) string { return telemetry.Prices(map[string]float64{currencyOf(days): v}) }),
		chart("What memory added to prompts", nil, days, func(s telemetry.Sum) []float64 {
			return []float64{float64(s.MemoryBytes)}
		}, func(v float64) string { return telemetry.Bytes(int64(v)) }),
	}, func(c Chart) bool { return c.Bars == nil })
	for _, t := range []struct{ by, title string }{{telemetry.ByHarness, "Harness"}, {telemetry.ByProject, "Project"},
		{telemetry.ByDay, "Day"}, {telemetry.BySession, "Session"}} {
		p.Usage.Tables = append(p.Usage.Tables, p.table(t.title, t.by, books.Sums(t.by)))
	}
	for _, s := range books.Sums(telemetry.ByHarness) {
		if s.Turns > 0 && !s.Reported {
			p.Usage.Silent = append(p.Usage.Silent, harnessName(s.Key))
		}
	}
	var err error
	p.Usage.Memory, err = costOfMemory(ctx, db)
	return err
}

// calendar gives the last days one after the other, those on which nothing happened too.
func calendar(sums []telemetry.Sum) []telemetry.Sum {
	if len(sums) == 0 {
		return nil
	}
	day := func(s telemetry.Sum) time.Time {
		at, _ := time.ParseInLocation(time.DateOnly, s.Key, time.Local)
		return at
	}
	last := day(sums[len(sums)-1])
	n := min(max(int(last.Sub(day(sums[0])).Hours()/24)+2, leastDays), mostDays)
	var days []telemetry.Sum
	for i := range n {
		key := last.AddDate(0, 0, i+1-n).Format(time.DateOnly)
		at, found := slices.BinarySearchFunc(sums, key,
			func(s telemetry.Sum, key string) int { return cmp.Compare(s.Key, key) })
		if found {
			days = append(days, sums[at])
		} else {
			days = append(days, telemetry.Sum{Key: key})
		}
	}
	return days
}

func (p *Page) table(title, by string, sums []telemetry.Sum) Table {
	switch by {
	case telemetry.ByDay:
		slices.Reverse(sums)
	case telemetry.BySession:
		slices.SortStableFunc(sums, func(a, b telemetry.Sum) int {
			of := func(s telemetry.Sum) float64 { return float(s.InputTokens) + float(s.OutputTokens) }
			return cmp.Or(cmp.Compare(of(b), of(a)), cmp.Compare(b.Turns, a.Turns))
		})
	}
	t := Table{By: by, Title: title, More: max(0, len(sums)-mostRows)}
	sessions := map[string]*Session{}
	if by == telemetry.BySession {
		for _, s := range p.sessions {
			sessions[s.ACPID] = s
		}
	}
	for _, s := range sums[:min(len(sums), mostRows)] {
		row := Row{Key: s.Key, Session: sessions[s.Key], Sessions: telemetry.Figure(int64(s.Sessions)),
			Turns: telemetry.Figure(int64(s.Turns)), Cost: s.Price(), Memory: telemetry.Bytes(s.MemoryBytes),
			Unreported: max(0, s.Turns-s.Counted), TurnsTotal: s.Turns}
		if s.InputTokens != nil {
			row.Input = telemetry.Figure(*s.InputTokens)
		}
		if s.OutputTokens != nil {
			row.Output = telemetry.Figure(*s.OutputTokens)
		}
		switch {
		case by == telemetry.ByProject && s.Key == "":
			row.Key = "no project"
		case by == telemetry.ByHarness:
			row.Key = harnessName(s.Key)
		case by == telemetry.ByProject:
			row.Key = p.short(s.Key)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// chart draws figures by day; without any it has no bars.
func chart(title string, legend []string, days []telemetry.Sum, of func(telemetry.Sum) []float64,
	words func(float64) string) Chart {
	c := Chart{Title: title, Legend: legend}
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
		b := Bar{Title: d.Key + ":", X: i * barWidth}
		y := chartHeight
		for n, v := range of(d) {
			height := int(v / most * chartHeight)
			if v > 0 {
				height = max(height, 1) // it can be seen
			}
			y -= height
			if height > 0 {
				b.Parts = append(b.Parts, Part{n, y, height})
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

func float(n *int64) float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}

// currencyOf is the currency that days have a cost in.
func currencyOf(days []telemetry.Sum) string {
	for _, d := range days {
		if d.Currency != nil {
			return *d.Currency
		}
	}
	return ""
}

// costOfMemory says what memory added to prompts, and how long these waited for it.
func costOfMemory(ctx context.Context, db *sql.DB) (string, error) {
	var prompts int
	var bytes, most, half int64
	err := db.QueryRowContext(ctx, `WITH told AS (SELECT bytes, held_ms FROM injections WHERE outcome <> 'refused')
		SELECT count(*), coalesce(sum(bytes), 0), coalesce(max(held_ms), 0), coalesce((SELECT held_ms FROM told
			ORDER BY held_ms LIMIT 1 OFFSET (SELECT count(*) / 2 FROM told)), 0) FROM told`).
		Scan(&prompts, &bytes, &most, &half)
	if err != nil || prompts == 0 {
		return "", sqlite.While("reading what was inserted", err)
	}
	const perToken = 4 // bytes, as memory.Tokens counts letters
	return fmt.Sprintf("%s into %s, about %s tokens. Half of these prompts waited %d ms or less for it, "+
		"the longest %d ms.", telemetry.Bytes(bytes), count(prompts, "prompt", "prompts"),
		telemetry.Figure(bytes/perToken), half, most), nil
}
