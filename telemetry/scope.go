package telemetry

import "time"

// A Scope says of what books are: of one session, where one is named, and since a time, where that is not zero.
type Scope struct {
	Since   time.Time
	Session int64
}

// sessions is the scope as a condition on a column session, and on ?1, its session.
func (s Scope) sessions() string {
	if s.Session == 0 {
		return "?1 = 0"
	}
	return "session = ?1"
}
