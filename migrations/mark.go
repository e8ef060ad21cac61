package migrations

import "github.com/gofrs/flock"

// A mark shows our other processes that one of us has the database's lock, for the moment that a transaction of
// sqlite.Write takes. Who is kept out by a lock without it knows that somebody else holds the database. The system
// releases it with its process.
type mark struct{ file *flock.Flock }

// markSuffix is what the mark's file has behind the database's name, as SQLite's own files do.
const markSuffix = "-writer"

func newMark(database string) mark {
	return mark{flock.New(database+markSuffix, flock.SetPermissions(0o600))}
}

// set is called by whoever has the database's lock. It waits for nobody, and is shared with the one before, who may not
// have cleared it yet.
func (m mark) set() { _, _ = m.file.TryRLock() }

func (m mark) clear() { _ = m.file.Unlock() }

// isSet reports whether another connection has set the mark.
func (m mark) isSet() bool {
	free, err := m.file.TryLock()
	if free {
		m.clear()
	}
	return err == nil && !free
}
