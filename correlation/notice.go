package correlation

import (
	"context"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Once reports whether it is called for the first time with this name on this database: a person is told some things
// once.
func (s *core) Once(ctx context.Context, name string) (bool, error) {
	if told, err := s.noted(ctx, name); told || err != nil {
		return false, err
	}
	err := s.mustChange(ctx, "noting what was told", errTold, `INSERT INTO noted (kind, name, at)
		VALUES ('told', ?, ?) ON CONFLICT DO NOTHING`, name, sqlite.Stamp(s.now()))
	if errors.Is(err, errTold) {
		return false, nil
	}
	return err == nil, err
}

var errTold = errors.New("told already")

func (s *core) noted(ctx context.Context, name string) (bool, error) {
	return value[bool](ctx, s.db, "looking up what was noted", `SELECT EXISTS (SELECT 1 FROM noted
		WHERE kind = 'told' AND name = ?)`, name)
}

// A person can switch a session off at the daemon. Its answer that says so is noted for good, because the daemon itself
// may forget it: 0.58.1 answers so to one session-end, and accepts the next.

const bypassNotice = "bypassed "

// Bypass notes that the session of a key was switched off at the daemon: nothing of it may be delivered.
func (s Debts) Bypass(ctx context.Context, key string) error {
	ctx, cancel := ownTime(ctx)
	defer cancel()
	_, err := s.Once(ctx, bypassNotice+key)
	return err
}

// Bypassed reports whether Bypass was noted for a key.
func (s Debts) Bypassed(ctx context.Context, key string) (bool, error) {
	return s.noted(ctx, bypassNotice+key)
}

const slowNotice = "slow disk"

// NoteSlow notes that the disk takes too long to be synced.
func (s *Store) NoteSlow(ctx context.Context) error {
	return s.change(ctx, "noting a slow disk", `INSERT INTO noted (kind, name, at) VALUES ('told', ?, ?)
		ON CONFLICT DO UPDATE SET at = excluded.at`, slowNotice, sqlite.Stamp(s.now()))
}

// Slow is when the disk last took too long to be synced; zero: never.
func (s Book) Slow(ctx context.Context) (time.Time, error) {
	at, err := value[int64](ctx, s.db, "looking up a slow disk", `SELECT coalesce(max(at), 0) FROM noted
		WHERE kind = 'told' AND name = ?`, slowNotice)
	return sqlite.Unstamp(at), err
}
