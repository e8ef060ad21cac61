package correlation

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// End marks the end of the process and leaves deliveries for its turns that were not delivered, in one transaction.
// Then it releases the lock, also after an error: the next sweep does what failed. Only the first call does anything.
func (p *Process) End(ctx context.Context, reason string) error {
	p.once.Do(func() {
		if p.err = p.store.end(ctx, p.id, reason); p.lock != nil {
			p.err = errors.Join(p.err, p.lock.Release())
		}
	})
	return p.err
}

// end is markEnded in a transaction of its own.
func (s *core) end(ctx context.Context, id, reason string) error {
	return s.write(ctx, "ending a process", func(tx *sql.Tx) error {
		_, err := s.markEnded(ctx, tx, id, reason)
		return err
	})
}

func (s *core) markEnded(ctx context.Context, tx *sql.Tx, id, reason string) (first bool, err error) {
	n, err := sqlite.Change(ctx, tx, `UPDATE processes SET ended = ?, reason = ? WHERE id = ? AND ended = 0`,
		sqlite.Stamp(s.now()), reason, id)
	if err != nil || n == 0 {
		return false, err
	}
	return true, s.leaveDebts(ctx, tx, id, reason)
}

// leaveDebts does what follows from the end of a process: what it has in flight is in doubt, its open turns end, and
// deliveries are left for what it owes.
func (s *core) leaveDebts(ctx context.Context, tx *sql.Tx, id, reason string) error {
	if err := s.diedInTurn(ctx, tx, id); err != nil {
		return err
	}
	info, err := processByID(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := s.oweFor(ctx, tx, info, 0, reason); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE attachments SET closed = 1 WHERE process = ? AND closed = 0`, id)
	return err
}

// SweepDead ends the processes that died without an end: what they had in flight is in doubt, their open turns have
// ended, and what they owe is due. unread, if not nil, reports that a process's event file is not folded in yet;
// it is left for later, or a part of a session would be delivered as the whole.
func (s *Store) SweepDead(ctx context.Context, unread func(process string) bool) error {
	const doing = "looking for dead processes"
	open, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT id FROM processes WHERE ended = 0`)
	if err != nil {
		return sqlite.While(doing, err)
	}
	for _, id := range open {
		if Alive(s.live, id) || unread != nil && unread(id) {
			continue
		}
		if err := s.end(ctx, id, "died"); err != nil {
			return err
		}
		if err := RemoveLock(s.live, id); err != nil {
			return sqlite.While(doing, err)
		}
	}
	return sqlite.While(doing, s.removeLeftovers(ctx))
}

const (
	// keepEnded is how long the rows of ended processes are kept for people to look at.
	keepEnded = 30 * 24 * time.Hour
	// orphanAge is how old a lock file that nobody holds must be to be removed: a younger one may just be being made.
	orphanAge = time.Hour
)

// removeLeftovers removes old rows of ended processes, session-starts that could not be ended, and old lock files that
// nobody holds: a process may die before it has a row, and a sweep before it removes a file.
func (s *core) removeLeftovers(ctx context.Context) error {
	old, lost := sqlite.Stamp(s.now().Add(-keepEnded)), sqlite.Stamp(s.now().Add(-giveUp))
	var any bool // a delete that finds nothing still waits for the lock
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM processes WHERE ended BETWEEN 1 AND ?)
		OR EXISTS (SELECT 1 FROM session_keys WHERE session IS NULL AND started <= ?)`, old, lost).Scan(&any)
	if err != nil {
		return err
	}
	if any {
		err := s.write(ctx, "removing rows of old processes", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM attachments WHERE closed = 1 AND process IN (
				SELECT id FROM processes WHERE ended BETWEEN 1 AND ?)`, old)
			if err == nil {
				_, err = tx.ExecContext(ctx, `DELETE FROM processes WHERE ended BETWEEN 1 AND ?`, old)
			}
			if err == nil {
				_, err = tx.ExecContext(ctx, `DELETE FROM session_keys WHERE session IS NULL AND started <= ?`, lost)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(s.live)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		id, isLock := strings.CutSuffix(e.Name(), lockSuffix)
		made, err := ulid.ParseStrict(id)
		if !isLock || err != nil || s.now().Sub(ulid.Time(made.Time())) < orphanAge || Alive(s.live, id) {
			continue
		}
		if err := ignoreMissing(os.Remove(filepath.Join(s.live, e.Name()))); err != nil {
			return err
		}
	}
	return nil
}
