package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	maxLanes   = 8 // projects; the rest share one
	laneHeight = 28
)

// A timeline shows when sessions were last active: a lane for each project, with a bar for each day.
type timeline struct {
	From, To time.Time
	Width    int
	Most     int // sessions of one day and project: the highest bar
	Lanes    []*lane
}

// A lane is a project.
type lane struct {
	Project  string // "" for none
	Others   int    // how many projects share it; 0: it is one project's
	Sessions int
	Bars     []bar // oldest first
	Summary  string

	newest time.Time
	days   map[int]int // sessions by day; 0 is the last day of the timeline
}

// readTimeline returns the timeline of the last days; without sessions it has no lanes.
func readTimeline(ctx context.Context, src Source) (t timeline, err error) {
	moments, err := src.Sessions.Moments(ctx, maxDays*24*time.Hour)
	if err != nil || len(moments) == 0 {
		return t, err
	}
	t.To = moments[len(moments)-1].Active // in order
	days := minDays
	for _, m := range moments {
		days = min(max(days, dayNumber(t.To)-dayNumber(m.Active)+1), maxDays)
	}
	t.From, t.Width = t.To.AddDate(0, 0, 1-days), days*barWidth
	lanes := map[string]*lane{}
	for _, m := range moments {
		back := dayNumber(t.To) - dayNumber(m.Active)
		if back >= days {
			continue
		}
		l := lanes[m.Project]
		if l == nil {
			l = &lane{Project: m.Project, days: map[int]int{}}
			lanes[m.Project] = l
			t.Lanes = append(t.Lanes, l)
		}
		l.days[back] += m.Sessions
		l.Sessions += m.Sessions
		if m.Active.After(l.newest) {
			l.newest = m.Active
		}
	}
	slices.SortFunc(t.Lanes, func(a, b *lane) int {
		return cmp.Or(b.newest.Compare(a.newest), cmp.Compare(a.Project, b.Project))
	})
	if len(t.Lanes) > maxLanes {
		rest := &lane{days: map[int]int{}}
		for _, l := range t.Lanes[maxLanes-1:] {
			rest.Others++
			rest.Sessions += l.Sessions
			for back, n := range l.days {
				rest.days[back] += n
			}
		}
		t.Lanes = append(t.Lanes[:maxLanes-1], rest)
	}
	for _, l := range t.Lanes {
		for _, n := range l.days {
			t.Most = max(t.Most, n)
		}
	}
	for _, l := range t.Lanes {
		l.mark(t, days)
	}
	return t, err
}

// dayNumber numbers the days of the local calendar.
func dayNumber(at time.Time) int {
	y, m, d := at.Local().Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// mark makes a lane's bars.
func (l *lane) mark(t timeline, days int) {
	for back := days - 1; back >= 0; back-- {
		n := l.days[back]
		if n == 0 {
			continue
		}
		day := t.To.AddDate(0, 0, -back)
		height := max(n*laneHeight/t.Most, 3) // so that it can be seen
		l.Bars = append(l.Bars, bar{Day: day.Local().Format(time.DateOnly), X: (days - 1 - back) * barWidth,
			Parts: []part{{Y: laneHeight - height, Height: height}},
			Title: day.Local().Format("2 January 2006") + ": " + count(n, "session", "sessions")})
	}
	l.Summary = fmt.Sprintf("%s on %s", count(l.Sessions, "session", "sessions"), count(len(l.Bars), "day", "days"))
}
