package correlation

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/oklog/ulid/v2"
)

// Relay is the kind of a process that sessions are said through.
const Relay = "relay"

// ProcessInfo is what is known of a process from its beginning, and decides what is done after its end.
type ProcessInfo struct {
	ID         string `json:"id"`         // from NewProcessID; empty: a new one
	Kind       string `json:"kind"`       // Relay
	Harness    string `json:"harness"`    // the name it was started by
	Version    string `json:"version"`    // ours
	PID        int    `json:"pid"`        // for people; 0: this process's
	SignetPath string `json:"signetPath"` // whose daemon it would deliver to
	// auto, daemon, embedded or off: decides whether its sessions owe the daemon something
	Memory string `json:"memory"`
	URL    string `json:"url,omitempty"` // the daemon's, where a person named one

	// Hook: on_session_end is configured. HookCommand is the command with its arguments, which debts carry to who
	// delivers.
	Hook        bool     `json:"hook,omitempty"`
	HookCommand []string `json:"hookCommand,omitempty"`

	Started time.Time `json:"-"` // when its row was written
}

// NewProcessID makes an id for a process (ProcessInfo.ID).
func NewProcessID() string { return ulid.Make().String() }

// A Process is this process as others see it: a row and a lock.
type Process struct {
	store *core
	id    string
	lock  *Lock // nil: package eventlog holds and releases it
	once  sync.Once
	err   error
}

// ID is the process's id in claims and turns.
func (p *Process) ID() string { return p.id }

// Register takes the process's lock and writes its row. The caller calls End.
func (s *Store) Register(ctx context.Context, info ProcessInfo) (*Process, error) {
	const doing = "registering the process"
	if s.live == "" {
		return nil, sqlite.While(doing, errors.New("no folder for locks"))
	}
	if info.ID == "" {
		info.ID = NewProcessID()
	}
	lock, err := TakeLock(s.live, info.ID)
	if err != nil {
		return nil, sqlite.While(doing, err)
	}
	err = s.write(ctx, doing, func(tx *sql.Tx) error { return register(ctx, tx, info, s.now()) })
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return &Process{store: s.core, id: info.ID, lock: lock}, nil
}

// Process returns a process whose row and lock package eventlog makes and ends.
func (s *Store) Process(id string) *Process { return &Process{store: s.core, id: id} }

// register writes a process's row, unless it is there.
func register(ctx context.Context, tx *sql.Tx, info ProcessInfo, now time.Time) error {
	if info.PID == 0 {
		info.PID = os.Getpid()
	}
	command := commandText(info.HookCommand)
	_, err := tx.ExecContext(ctx, `INSERT INTO processes (id, kind, harness, version, pid, signet_path, memory, hook,
		hook_command, url, started)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		info.ID, info.Kind, info.Harness, info.Version, info.PID, info.SignetPath, info.Memory,
		info.Hook || command != "", command, info.URL, sqlite.Stamp(now))
	return err
}

// commandText is a hook's command as rows have it; "" for none.
func commandText(command []string) string {
	if len(command) == 0 {
		return ""
	}
	return sqlite.List(command)
}

// processByID reads of a process what decides what is owed.
func processByID(ctx context.Context, q sqlite.Querier, id string) (ProcessInfo, error) {
	p := ProcessInfo{ID: id}
	var started int64
	err := q.QueryRowContext(ctx, `SELECT signet_path, memory, url, hook, started FROM processes WHERE id = ?`, id).
		Scan(&p.SignetPath, &p.Memory, &p.URL, &p.Hook, &started)
	p.Started = sqlite.Unstamp(started)
	return p, orNotFound(err)
}
