package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

const maxRows = 30 // rows of a table

// A usage is what was used, and what memory added.
type usage struct {
	All    row // in all
	Charts []chart
	Tables []table
	Memory string   // what memory added to prompts, in words; "" for nothing
	Silent []string // harnesses that report no usage
}

// A table is usage by harness, project, week or session.
type table struct {
	By, Title string // such as "harness" and "Harness"
	Rows      []row
	More      int // rows that are left out
}

// A row is one line of a table, in words; "" where nothing was reported.
type row struct {
	Key                    string
	Session                *session // in a table by session, where it is on the page
	Sessions, Turns        string
	Input, Output, Cost    string
	Memory, Used           string // what it added, and how much of it was seen to be used
	Unreported, TurnsTotal int    // how many turns reported no tokens, of how many
}

// readUsage reads usage. Tables by session link to those of the page.
func (p *Page) readUsage(ctx context.Context) error {
	used, err := telemetry.ReadUsage(ctx, p.src.Sessions, correlation.Scope{}, true)
	if err != nil {
		return err
	}
	used.NameHarnesses(harnessName)
	if p.Cost, err = p.src.Sessions.InsertionCost(ctx); err != nil {
		return err
	}
	var u usage
	days := calendar(used.Sums(telemetry.ByDay))
	u.Charts = slices.DeleteFunc([]chart{
		newChart("Tokens", []string{"in", "out"}, days, func(s telemetry.Sum) []float64 {
			return []float64{float(s.InputTokens), float(s.OutputTokens)}
		}, func(v float64) string { return telemetry.Figure(int64(v)) }),
		newChart("Cost", nil, days, func(s telemetry.Sum) []float64 {
			if s.Cost == nil {
				return []float64{0}
			}
			return []float64{*s.Cost}
		}, func(v float64) string { return telemetry.Prices(map[string]float64{currencyOf(days): v}) }),
		newChart("What memory added to prompts", nil, days, func(s telemetry.Sum) []float64 {
			return []float64{float64(s.MemoryBytes)}
		}, func(v float64) string { return telemetry.Bytes(int64(v)) }),
	}, func(c chart) bool { return c.Bars == nil })
	if p.Live {
		if err := p.readNames(ctx, telemetry.Largest(used.Sums(telemetry.BySession))); err != nil {
			return err
		}
	}
	for _, t := range []struct{ by, title string }{{telemetry.ByHarness, "Harness"}, {telemetry.ByProject, "Project"},
		{telemetry.ByWeek, "Week"}, {telemetry.BySession, "Session"}} {
		u.Tables = append(u.Tables, newTable(t.title, t.by, used.Sums(t.by), p.byID))
	}
	for _, s := range used.Sums(telemetry.ByHarness) {
		if s.Turns > 0 && !s.Reported {
			u.Silent = append(u.Silent, s.Key)
		}
	}
	u.Memory = costOfMemory(p.Cost)
	for _, s := range used.Sums("") { // one, or none
		u.All = newRow(s)
		if words := telemetry.OfUse(s.Uses); words != "" {
			u.Memory += " " + words + "."
		}
		if words := s.Notes.String(); words != "" {
			u.Memory += " Agents' " + words + "."
		}
	}
	p.Usage = u
	return nil
}

// calendar returns the last days without gaps, empty ones included.
func calendar(sums []telemetry.Sum) []telemetry.Sum {
	if len(sums) == 0 {
		return nil
	}
	day := func(s telemetry.Sum) time.Time {
		at, _ := time.ParseInLocation(time.DateOnly, s.Key, time.Local)
		return at
	}
	last := day(sums[len(sums)-1])
	n := min(max(int(last.Sub(day(sums[0])).Hours()/24)+2, minDays), maxDays)
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

// newTable makes a table of sums.
func newTable(title, by string, sums []telemetry.Sum, sessions map[int64]*session) table {
	switch by {
	case telemetry.ByWeek:
		slices.Reverse(sums)
	case telemetry.BySession:
		sums = telemetry.Largest(sums)
	}
	t := table{By: by, Title: title, More: max(0, len(sums)-maxRows)}
	byACPID := map[string]*session{}
	if by == telemetry.BySession {
		for _, s := range sessions {
			byACPID[s.ACPID] = s
		}
	}
	for _, s := range sums[:min(len(sums), maxRows)] {
		row := newRow(s)
		row.Session = byACPID[s.Key]
		switch {
		case by == telemetry.ByHarness:
			row.Key = harnessName(s.Key)
		case by == telemetry.ByProject:
			row.Key = projectName(s.Key)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// readNames reads what the sessions of a table are called.
func (p *Page) readNames(ctx context.Context, sums []telemetry.Sum) error {
	ids := []int64{}
	for _, s := range sums[:min(len(sums), maxRows)] {
		if one, err := p.src.Sessions.Find(ctx, "", s.Key); err == nil { // else it stands there by its id
			ids = append(ids, one.ID)
		}
	}
	return p.readSessions(ctx, choice{sessions: ids, turns: correlation.Scope{Sessions: []int64{}}})
}

// newRow puts a sum in words.
func newRow(s telemetry.Sum) row {
	row := row{Key: s.Key, Sessions: telemetry.Figure(int64(s.Sessions)),
		Turns: telemetry.Figure(int64(s.Turns)), Cost: s.Price(), Memory: telemetry.Bytes(s.MemoryBytes),
		Used:       telemetry.ShareUsed(s.Uses),
		Unreported: max(0, s.Turns-s.Counted), TurnsTotal: s.Turns}
	if s.InputTokens != nil {
		row.Input = telemetry.Figure(*s.InputTokens)
	}
	if s.OutputTokens != nil {
		row.Output = telemetry.Figure(*s.OutputTokens)
	}
	return row
}

func float(n *int64) float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}

// currencyOf returns the currency in which days have a cost.
func currencyOf(days []telemetry.Sum) string {
	for _, d := range days {
		if d.Currency != nil {
			return *d.Currency
		}
	}
	return ""
}

// costOfMemory says how much memory added to prompts, and how long these waited for it.
func costOfMemory(c correlation.Cost) string {
	if c.Prompts == 0 {
		return ""
	}
	const perToken = 4 // bytes, as memory.Tokens counts letters
	return fmt.Sprintf("%s added to %s, about %s tokens. Half of these prompts waited %d ms or less for it, "+
		"the longest %d ms.", telemetry.Bytes(c.Bytes), count(c.Prompts, "prompt", "prompts"),
		telemetry.Figure(c.Bytes/perToken), c.Median, c.Most)
}
