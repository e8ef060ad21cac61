package telemetry

import "time"

// A Scope limits what is read: to reports and turns since a time, unless that is zero, and to one session, unless that
// is 0.
type Scope struct {
	Since   time.Time
	Session int64
}

// sessions is the scope as a condition on the column session, with Session as ?1.
func (s Scope) sessions() string {
	if s.Session == 0 {
		return "?1 = 0"
	}
	return "session = ?1"
}
