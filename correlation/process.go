package correlation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/oklog/ulid/v2"
)

// Kinds of processes.
const (
	Relay  = "relay"
	Worker = "worker"
)

// Memory modes under which a session may owe the daemon something (design.md, "After the session").
const (
	memoryAuto   = "auto"
	memoryDaemon = "daemon"
)

// daemonMemory is how long a daemon that answered is expected back.
const daemonMemory = 14 * 24 * time.Hour

// ProcessInfo is what stays known of a process when it dies without a word.
type ProcessInfo struct {
	ID         string // from NewProcessID; empty: a new one
	Kind       string // Relay or Worker
	Harness    string // the name it was started by
	Version    string // ours
	SignetPath string // whose daemon it would deliver to
	Memory     string // auto, daemon, embedded, off: whether its sessions owe the daemon something
	Hook       bool   // on_session_end is configured
	URL        string // the daemon's, where a person named one
}

// A Process is this process, as others see it: a row, and a lock that the system lets go when the process ends in whatever way.
type Process struct {
	store *Store
	id    string
	lock  *flock.Flock
	once  sync.Once
	err   error

	departed atomic.Bool
}

// ID is the process's name in claims, turns and leases.
func (p *Process) ID() string { return p.id }

// Register makes this process known as a living one. The caller ends it.
func (s *Store) Register(ctx context.Context, info ProcessInfo) (*Process, error) {
	const doing = "registering the process"
	if s.live == "" {
		return nil, explain(doing, errors.New("no folder for locks"))
	}
	if err := os.MkdirAll(s.live, 0o700); err != nil {
		return nil, explain(doing, err)
	}
	if info.ID == "" {
		info.ID = NewProcessID()
	}
	p := &Process{store: s, id: info.ID}
	p.lock = flock.New(s.lockFile(p.id), flock.SetPermissions(0o600))
	if locked, err := p.lock.TryLock(); err != nil || !locked {
		return nil, explain(doing, errors.Join(fmt.Errorf("locking %s", p.lock.Path()), err))
	}
	err := s.write(ctx, doing, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO processes (id, kind, harness, version, pid, signet_path, memory, hook, url, started) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			p.id, info.Kind, info.Harness, info.Version, os.Getpid(), info.SignetPath, info.Memory, info.Hook, info.URL, stamp(s.now()))
		return err
	})
	if err != nil {
		return nil, errors.Join(err, p.release())
	}
	return p, nil
}

// End marks the end of the process and leaves delivery rows for its sessions with turns that were not delivered, in one transaction; then it lets
// the lock go, also after an error: whoever sweeps next does the same then. Only the first call does anything.
func (p *Process) End(ctx context.Context, reason string) error {
	p.once.Do(func() {
		var err error
		if p.departed.Load() {
			err = p.store.write(ctx, "ending a process", func(tx *sql.Tx) error { return p.store.settleUp(ctx, tx, p.id, reason) })
		} else {
			_, err = p.store.bury(ctx, p.id, reason)
		}
		p.err = errors.Join(err, p.release())
	})
	return p.err
}

// Depart does what End does but keeps the lock, for a process that has still to hear its harness out: nothing that it owes is leased until it ends or
// dies. What it says later goes along; End follows.
func (p *Process) Depart(ctx context.Context, reason string) error {
	_, err := p.store.bury(ctx, p.id, reason)
	if err == nil {
		p.departed.Store(true)
	}
	return err
}

// Leave ends this process's part in one session (session/close, session/delete): its open turns end, and what they owe is due.
func (p *Process) Leave(ctx context.Context, session int64, reason string) error {
	s := p.store
	return s.write(ctx, "leaving a session", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM attachments WHERE process = ? AND session = ?`, p.id, session); err != nil {
			return err
		}
		info, err := processByID(ctx, tx, p.id)
		if err != nil {
			return err
		}
		return s.oweFor(ctx, tx, info, session, reason)
	})
}

func (p *Process) release() error {
	return errors.Join(p.lock.Unlock(), ignoreMissing(os.Remove(p.lock.Path()))) // nobody waits for it: names are never used twice
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) lockFile(process string) string { return filepath.Join(s.live, process+lockSuffix) }

const lockSuffix = ".lock"

// alive reports whether a process holds its lock. It asks with a shared lock, so that two who ask do not take each other for the owner. Where it
// cannot be asked the process counts as alive: to wait for a dead one is a nuisance, to rob a living one a fault.
func (s *Store) alive(process string) bool {
	if s.live == "" {
		return true
	}
	probe := flock.New(s.lockFile(process), flock.SetFlag(os.O_RDONLY))
	free, err := probe.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		s.log.Warn().Err(err).Str("process", process).Msg("cannot ask for the lock of a process")
		return true
	case free:
		_ = probe.Close()
	}
	return !free
}

// SweepDead buries the processes that died without saying so: what they had in flight is in doubt, their open turns have ended, and what their
// sessions owe is due. It gives how many it buried.
func (s *Store) SweepDead(ctx context.Context) (int, error) {
	const doing = "looking for dead processes"
	open, err := collect(ctx, s.db, func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT id FROM processes WHERE ended = 0`)
	if err != nil {
		return 0, explain(doing, err)
	}
	n := 0
	for _, id := range open {
		if s.alive(id) {
			continue
		}
		buried, err := s.bury(ctx, id, "died")
		if err != nil {
			return n, err
		}
		if buried {
			n++
		}
		if s.live != "" {
			if err := ignoreMissing(os.Remove(s.lockFile(id))); err != nil {
				return n, explain(doing, err)
			}
		}
	}
	return n, explain(doing, s.sweepFiles(ctx))
}

const (
	// keepEnded is how long the rows of ended processes are kept for people to look at.
	keepEnded = 30 * 24 * time.Hour
	// orphanAge is when a lock file that nobody holds is taken for left over, and not for one that is just being made.
	orphanAge = time.Hour
)

// sweepFiles removes old rows of ended processes, and lock files without one: their processes died before they had a row, or those who buried them
// died before they removed the file.
func (s *Store) sweepFiles(ctx context.Context) error {
	old := s.now().Add(-keepEnded)
	var any bool // a delete that finds nothing still waits for the lock
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM processes WHERE ended BETWEEN 1 AND ?)`, stamp(old)).Scan(&any)
	if err != nil {
		return err
	}
	if any {
		err := s.write(ctx, "removing rows of old processes", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM processes WHERE ended BETWEEN 1 AND ?`, stamp(old))
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

// process is a row of processes, as far as it decides what is owed.
type process struct {
	id, signetPath, memory, url string
	hook                        bool
	started                     time.Time
}

func processByID(ctx context.Context, q querier, id string) (process, error) {
	p := process{id: id}
	var started int64
	err := q.QueryRowContext(ctx, `SELECT signet_path, memory, url, hook, started FROM processes WHERE id = ?`, id).Scan(&p.signetPath, &p.memory, &p.url, &p.hook, &started)
	p.started = unstamp(started)
	return p, orNotFound(err)
}

// bury marks the end of a process and does what follows from it. It reports whether it was the one to do so.
func (s *Store) bury(ctx context.Context, id, reason string) (bool, error) {
	first := false
	err := s.write(ctx, "ending a process", func(tx *sql.Tx) error {
		now := stamp(s.now())
		r, err := tx.ExecContext(ctx, `UPDATE processes SET ended = ?, reason = ? WHERE id = ? AND ended = 0`, now, reason, id)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		if err != nil || n == 0 {
			return err
		}
		first = true
		return s.settleUp(ctx, tx, id, reason)
	})
	return first && err == nil, err
}

// settleUp does what follows from the end of a process.
func (s *Store) settleUp(ctx context.Context, tx *sql.Tx, id, reason string) error {
	if err := doubt(ctx, tx, id); err != nil {
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

// SawDaemon notes that a daemon answered for a Signet path just now.
func (s *Store) SawDaemon(ctx context.Context, signetPath, url, version string) error {
	return s.write(ctx, "noting the daemon", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO daemon_seen (signet_path, url, version, at) VALUES (?, ?, ?, ?)
			ON CONFLICT (signet_path) DO UPDATE SET url = excluded.url, version = excluded.version, at = excluded.at`, signetPath, url, version, stamp(s.now()))
		return err
	})
}

// owesDaemon reports whether sessions of p are owed to the daemon: always in daemon mode; in auto mode when one answered during the process's
// life or in the last 14 days, so that nobody without a daemon collects dead rows.
func (s *Store) owesDaemon(ctx context.Context, q querier, p process) (bool, error) {
	switch p.memory {
	case memoryDaemon:
		return true, nil
	case memoryAuto:
	default:
		return false, nil
	}
	since := s.now().Add(-daemonMemory)
	if p.started.Before(since) {
		since = p.started
	}
	var seen bool
	err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM daemon_seen WHERE signet_path = ? AND at >= ?)`, p.signetPath, stamp(since)).Scan(&seen)
	return seen, err
}

// Once reports whether a person has not been told name yet, and notes that now they have.
func (s *Store) Once(ctx context.Context, name string) (bool, error) {
	err := s.change(ctx, "noting what was told", errTold, `INSERT INTO notices (name, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, stamp(s.now()))
	if errors.Is(err, errTold) {
		return false, nil
	}
	return err == nil, err
}

var errTold = errors.New("told already")
