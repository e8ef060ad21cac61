package correlation

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A person can switch a session off at the daemon. Its answer that says so is noted for good, because the daemon itself
// may forget it: 0.58.1 answers so to one session-end, and accepts the next.

const bypassNotice = "bypassed "

// Bypass notes that the session of a key was switched off at the daemon: nothing of it may be delivered.
func (s *Store) Bypass(ctx context.Context, key string) error {
	_, err := s.Once(ctx, bypassNotice+key)
	return err
}

// Bypassed reports whether Bypass was noted for a key.
func (s *Store) Bypassed(ctx context.Context, key string) (bypassed bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM notices WHERE name = ?)`,
		bypassNotice+key).Scan(&bypassed)
	return bypassed, sqlite.While("looking whether a session is switched off", err)
}
