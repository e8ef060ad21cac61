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

// End marks the end of the process and leaves delivery rows for its sessions with turns that were not delivered, in one
// transaction; then it lets the lock go, also after an error: whoever sweeps next does the same then. Only the first
// call does anything.
func (p *Process) End(ctx context.Context, reason string) error {
	p.once.Do(func() {
		var err error
		if p.departed.Load() {
			err = p.store.write(ctx, "ending a process", func(tx *sql.Tx) error {
				return p.store.settleUp(ctx, tx, p.id, reason)
			})
		} else {
			_, err = p.store.endOnce(ctx, p.id, reason)
		}
		p.err = errors.Join(err, p.release())
	})
	return p.err
}

// Depart does what End does but keeps the lock, for a process that has still to hear its harness out: nothing that it
// owes is leased until it ends or dies. What it says later goes along; End follows.
func (p *Process) Depart(ctx context.Context, reason string) error {
	_, err := p.store.endOnce(ctx, p.id, reason)
	if err == nil {
		p.departed.Store(true)
	}
	return err
}

// Leave ends this process's part in one session (session/close, session/delete): its open turns end, and what they owe
// is due.
func (p *Process) Leave(ctx context.Context, session int64, reason string) error {
	s := p.store
	return s.write(ctx, "leaving a session", func(tx *sql.Tx) error { return s.leave(ctx, tx, p.id, session, reason) })
}

func (s *Store) leave(ctx context.Context, tx *sql.Tx, process string, session int64, reason string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM attachments WHERE process = ? AND session = ?`,
		process, session); err != nil {
		return err
	}
	info, err := processByID(ctx, tx, process)
	if err != nil {
		return err
	}
	return s.oweFor(ctx, tx, info, session, reason)
}

// endOnce marks the end of a process and does what follows from it. It reports whether it was the one to do so.
func (s *Store) endOnce(ctx context.Context, id, reason string) (first bool, err error) {
	err = s.write(ctx, "ending a process", func(tx *sql.Tx) (err error) {
		first, err = s.ended(ctx, tx, id, reason)
		return err
	})
	return first && err == nil, err
}

func (s *Store) ended(ctx context.Context, tx *sql.Tx, id, reason string) (first bool, err error) {
	r, err := tx.ExecContext(ctx, `UPDATE processes SET ended = ?, reason = ? WHERE id = ? AND ended = 0`,
		sqlite.Stamp(s.now()), reason, id)
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	if err != nil || n == 0 {
		return false, err
	}
	return true, s.settleUp(ctx, tx, id, reason)
}

// settleUp does what follows from the end of a process.
func (s *Store) settleUp(ctx context.Context, tx *sql.Tx, id, reason string) error {
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
	_, err = tx.ExecContext(ctx, `DELETE FROM attachments WHERE process = ?`, id)
	return err
}

// SweepDead ends the processes that died without saying so: what they had in flight is in doubt, their open turns
// have ended, and what their sessions owe is due. unread, if not nil, names those whose last words are still to be
// taken in: they are left to whoever does that, or a part of a session would be handed over as the whole. It gives how
// many it ended.
func (s *Store) SweepDead(ctx context.Context, unread func(process string) bool) (int, error) {
	const doing = "looking for dead processes"
	open, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT id FROM processes WHERE ended = 0`)
	if err != nil {
		return 0, sqlite.While(doing, err)
	}
	n := 0
	for _, id := range open {
		if s.alive(id) || unread != nil && unread(id) {
			continue
		}
		first, err := s.endOnce(ctx, id, "died")
		if err != nil {
			return n, err
		}
		if first {
			n++
		}
		if s.live != "" {
			if err := RemoveLock(s.live, id); err != nil {
				return n, sqlite.While(doing, err)
			}
		}
	}
	return n, sqlite.While(doing, s.sweepFiles(ctx))
}

const (
	// keepEnded is how long the rows of ended processes are kept for people to look at.
	keepEnded = 30 * 24 * time.Hour
	// orphanAge is when a lock file that nobody holds is taken for left over, and not for one that is just being made.
	orphanAge = time.Hour
)

// sweepFiles removes old rows of ended processes, starts that nobody could end, and lock files without a row: their
// processes died before they had one, or those who noted their end died before they removed the file.
func (s *Store) sweepFiles(ctx context.Context) error {
	old, lost := sqlite.Stamp(s.now().Add(-keepEnded)), sqlite.Stamp(s.now().Add(-giveUp))
	var any bool // a delete that finds nothing still waits for the lock
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM processes WHERE ended BETWEEN 1 AND ?)
		OR EXISTS (SELECT 1 FROM started_keys WHERE started <= ?)`, old, lost).Scan(&any)
	if err != nil {
		return err
	}
	if any {
		err := s.write(ctx, "removing rows of old processes", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM processes WHERE ended BETWEEN 1 AND ?`, old)
			if err == nil {
				_, err = tx.ExecContext(ctx, `DELETE FROM started_keys WHERE started <= ?`, lost)
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
		if !isLock || err != nil || s.now().Sub(ulid.Time(made.Time())) < orphanAge || s.alive(id) {
			continue
		}
		if err := ignoreMissing(os.Remove(filepath.Join(s.live, e.Name()))); err != nil {
			return err
		}
	}
	return nil
}
