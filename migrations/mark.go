package migrations

import (
	"time"

	"github.com/gofrs/flock"
)

// A mark shows our other processes that one of us has the database's lock, for the moment that a transaction of
// sqlite.Write takes. Who is kept out by a lock without it knows that somebody else holds the database. The system
// releases it with its process.
type mark struct{ file *flock.Flock }

// markSuffix is what the mark's file has behind the database's name, as SQLite's own files do.
const markSuffix = "-writer"

func newMark(database string) mark {
	return mark{flock.New(database+markSuffix, flock.SetPermissions(0o600))}
}

// set is called by whoever has the database's lock. The mark is shared with the one before, who may not have cleared it
// yet; whoever looks at it keeps it for some microseconds.
func (m mark) set() {
	for range 3 {
		if done, err := m.file.TryRLock(); done || err != nil {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

func (m mark) clear() { _ = m.file.Unlock() }

// isSet reports whether another connection has set the mark.
func (m mark) isSet() bool {
	free, err := m.file.TryLock()
	if free {
		m.clear()
	}
	return err == nil && !free
}
