package view

import (
	"slices"
	"time"
)

// A Day has the sessions that began on it, by project.
type Day struct {
	ID       string // the HTML id of its list
	Date     time.Time
	Projects []Group
}

// A Group is the sessions of a project, the newest first.
type Group struct {
	Project  string
	Sessions []*Session
}

// days groups the sessions that no other session called, the newest day first.
func days(sessions map[int64]*Session) []Day {
	var roots []*Session
	for _, s := range sessions {
		if s.Caller == nil {
			roots = append(roots, s)
		}
	}
	slices.SortFunc(roots, func(a, b *Session) int { return oldestFirst(b, a) })
	for _, s := range roots[min(len(roots), mostUnfolded):] {
		s.fold()
	}
	var all []Day
	for _, s := range roots {
		if len(all) == 0 || !sameDay(all[len(all)-1].Date, s.Started) {
			all = append(all, Day{ID: dayID(s.Started), Date: s.Started})
		}
		day := &all[len(all)-1]
		at := slices.IndexFunc(day.Projects, func(g Group) bool { return g.Project == s.Project })
		if at < 0 {
			at = len(day.Projects)
			day.Projects = append(day.Projects, Group{Project: s.Project})
		}
		day.Projects[at].Sessions = append(day.Projects[at].Sessions, s)
	}
	return all
}

// mostUnfolded is how many sessions, the newest, have their turns in the page's text, where the browser's search finds
// them.
const mostUnfolded = 200

func sameDay(a, b time.Time) bool {
	return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
}

// dayID gives the HTML id of a day's list.
func dayID(at time.Time) string { return "d" + at.Local().Format(time.DateOnly) }

// dayNumber numbers the days of the local calendar.
func dayNumber(at time.Time) int {
	y, m, d := at.Local().Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}
