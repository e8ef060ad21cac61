package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	mostLanes  = 8 // projects; the rest share one
	laneHeight = 28
)

// A Timeline shows when sessions began: a lane for each project, with a bar for each day.
type Timeline struct {
	From, To time.Time
	Width    int
	Most     int // sessions of one day and project: the highest bar
	Lanes    []*Lane
}

// A Lane is a project.
type Lane struct {
	Project  string // "" for none
	Others   int    // how many projects share it; 0: it is one project's
	Sessions int
	Marks    []Mark // oldest first
	Summary  string

	newest time.Time
	days   map[int]int // sessions by day; 0 is the last day of the timeline
}

// A Mark is a day of a project.
type Mark struct {
	Day          string // the HTML id of that day's list
	Title        string
	X, Y, Height int
}

// timeline gives the timeline of the last days on which sessions began; without sessions it has no lanes.
func timeline(sessions map[int64]*Session) Timeline {
	var t Timeline
	first := time.Now()
	for _, s := range sessions {
		if s.Started.After(t.To) {
			t.To = s.Started
		}
		if s.Started.Before(first) {
			first = s.Started
		}
	}
	days := min(max(dayNumber(t.To)-dayNumber(first)+1, leastDays), mostDays)
	t.From, t.Width = t.To.AddDate(0, 0, 1-days), days*barWidth
	lanes := map[string]*Lane{}
	for _, s := range sessions {
		back := dayNumber(t.To) - dayNumber(s.Started)
		if back >= days {
			continue
		}
		l := lanes[s.Project]
		if l == nil {
			l = &Lane{Project: s.Project, days: map[int]int{}}
			lanes[s.Project] = l
			t.Lanes = append(t.Lanes, l)
		}
		l.days[back]++
		l.Sessions++
		if s.Started.After(l.newest) {
			l.newest = s.Started
		}
	}
	slices.SortFunc(t.Lanes, func(a, b *Lane) int {
		return cmp.Or(b.newest.Compare(a.newest), cmp.Compare(a.Project, b.Project))
	})
	if len(t.Lanes) > mostLanes {
		rest := &Lane{days: map[int]int{}}
		for _, l := range t.Lanes[mostLanes-1:] {
			rest.Others++
			rest.Sessions += l.Sessions
			for back, n := range l.days {
				rest.days[back] += n
			}
		}
		t.Lanes = append(t.Lanes[:mostLanes-1], rest)
	}
	for _, l := range t.Lanes {
		for _, n := range l.days {
			t.Most = max(t.Most, n)
		}
	}
	for _, l := range t.Lanes {
		l.mark(t, days)
	}
	return t
}

// mark makes a lane's bars.
func (l *Lane) mark(t Timeline, days int) {
	for back := days - 1; back >= 0; back-- {
		n := l.days[back]
		if n == 0 {
			continue
		}
		day := t.To.AddDate(0, 0, -back)
		height := max(n*laneHeight/t.Most, 3) // so that it can be seen
		l.Marks = append(l.Marks, Mark{Day: dayID(day), X: (days - 1 - back) * barWidth, Y: laneHeight - height,
			Height: height, Title: day.Local().Format("2 January 2006") + ": " + count(n, "session", "sessions")})
	}
	l.Summary = fmt.Sprintf("%s on %s", count(l.Sessions, "session", "sessions"), count(len(l.Marks), "day", "days"))
}
