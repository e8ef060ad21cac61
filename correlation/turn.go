package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// MaxText is how many bytes of each side of a turn are kept. What is longer is cut there and the turn marked as
// truncated.
const MaxText = 1 << 20

// MaxTools is how many tool calls of a turn are kept.
const MaxTools = 256

// A ToolCall is what is kept of one: neither its input nor its output.
type ToolCall struct {
	ID           string   `json:"id,omitempty"` // the harness's, as far as it is kept: at most 128 bytes
	Title        string   `json:"title"`
	Kind         string   `json:"kind"`
	Status       string   `json:"status"`
	Locations    []string `json:"locations,omitempty"` // paths
	Milliseconds int64    `json:"ms,omitempty"`        // from its first to its last report
}

// A Turn is what a person said and what the assistant answered. Callers take out <private> and secrets before they
// store it.
type Turn struct {
	ID, Session int64
	Key         string // empty in a new one: the session's current one
	Process     string
	User        string // the person's own words, never the wire's
	Assistant   string
	Tools       []ToolCall
	Started     time.Time // zero in a new one: now
	Ended       time.Time // zero: it goes on
	Stop        string    // ACP's stopReason; empty in an ended turn: an error (Code), or its process died
	Code        int       // JSON-RPC error code
	Truncated   bool
	Learned     bool  // the embedded store has taken it in
	Delivered   int64 // the delivery that took it to the daemon, 0 for none
}

const turnColumns = `t.id, t.session, t.key, t.process, t.user, t.assistant, t.tools, t.started, t.ended, t.stop,
	t.code, t.truncated, t.learned, t.daemon_delivery`

func scanTurn(row sqlite.Row) (t Turn, err error) {
	var started, ended int64
	var tools []byte
	err = row.Scan(&t.ID, &t.Session, &t.Key, &t.Process, &t.User, &t.Assistant, &tools, &started, &ended, &t.Stop,
		&t.Code, &t.Truncated, &t.Learned, &t.Delivered)
	if err != nil {
		return t, err
	}
	t.Started, t.Ended = sqlite.Unstamp(started), sqlite.Unstamp(ended)
	return t, json.Unmarshal(tools, &t.Tools)
}

// SaveTurns writes turns as they stand, in one transaction. Those without an ID are new: they need Session, Process and
// User, and get their ID. Of the others everything that may change is written: Assistant, Tools and Truncated; Ended,
// Stop and Code once. A turn that has ended may still be written, for updates come after the response. One that was
// forgotten meanwhile stays so, and an answer of which something was forgotten. ErrNotFound: the session of a new turn
// is not there.
func (s *Store) SaveTurns(ctx context.Context, turns []Turn) error {
	ids := make([]int64, len(turns))
	err := s.write(ctx, "writing turns", func(tx *sql.Tx) error {
		active := map[int64]time.Time{}
		for i, t := range turns {
			if t.Started.IsZero() {
				t.Started = s.now()
			}
			row, err := rowOf(t)
			if err != nil {
				return err
			}
			if t.ID == 0 {
				if t.ID, err = row.insert(ctx, tx, t); err != nil {
					return err
				}
			} else if t.Session, err = row.update(ctx, tx, t); err != nil {
				return err
			}
			ids[i] = t.ID
			active[t.Session] = latest(active[t.Session], t.Started, t.Ended)
		}
		for session, at := range active {
			if _, err := tx.ExecContext(ctx, `UPDATE sessions SET last_active = max(last_active, ?) WHERE id = ?`,
				sqlite.Stamp(at), session); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range turns {
		turns[i].ID = ids[i]
	}
	return nil
}

// turnRow is what a turn is in its columns, as far as that needs work.
type turnRow struct {
	user, assistant, tools string
	truncated              bool
}

func rowOf(t Turn) (turnRow, error) {
	user, cutUser := cutText(t.User)
	assistant, cut := cutText(t.Assistant)
	if len(t.Tools) > MaxTools {
		t.Tools, cut = t.Tools[:MaxTools], true
	}
	if t.Tools == nil {
		t.Tools = []ToolCall{}
	}
	tools, err := json.Marshal(t.Tools)
	return turnRow{user, assistant, string(tools), cut || cutUser || t.Truncated}, err
}

func (r turnRow) insert(ctx context.Context, tx *sql.Tx, t Turn) (id int64, err error) {
	done, err := tx.ExecContext(ctx, `INSERT INTO turns (session, key, process, started, ended, stop, code, truncated,
		tools, user, assistant)
		SELECT id, coalesce(nullif(?, ''), key), ?, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?`,
		t.Key, t.Process, sqlite.Stamp(t.Started), sqlite.Stamp(t.Ended), t.Stop, t.Code, r.truncated, r.tools, r.user,
		r.assistant, t.Session)
	if err != nil {
		return 0, err
	}
	if n, err := done.RowsAffected(); err != nil {
		return 0, err
	} else if n == 0 {
		return 0, ErrNotFound
	}
	return done.LastInsertId()
}

// forgotten stands in a turn where something was that a person had forgotten (memory/embedded).
const forgotten = "[forgotten]"

// update gives the session of the turn, 0 if the turn was forgotten. An answer of which something was forgotten stays
// as it is: the caller's still has it.
func (r turnRow) update(ctx context.Context, tx *sql.Tx, t Turn) (session int64, err error) {
	err = tx.QueryRowContext(ctx, `UPDATE turns SET tools = ?3,
		assistant = iif(instr(assistant, ?8) > 0 AND substr(?2, 1, length(assistant)) <> assistant, assistant, ?2),
		truncated = max(truncated, ?4), learned = 0, ended = iif(ended = 0, ?5, ended), stop = iif(ended = 0, ?6, stop),
		code = iif(ended = 0, ?7, code) WHERE id = ?1 RETURNING session`,
		t.ID, r.assistant, r.tools, r.truncated, sqlite.Stamp(t.Ended), t.Stop, t.Code, forgotten).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return session, err
}

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}

// Turns gives the turns of a session and of those that it continues, in the order in which their prompts left. Of
// several processes one may have come into the database later than what was said after it.
func (s *Store) Turns(ctx context.Context, session int64) ([]Turn, error) {
	all, err := sqlite.Collect(ctx, s.db, scanTurn, ancestors("continue_of")+` SELECT `+turnColumns+` FROM turns t
		WHERE t.session IN ancestors ORDER BY t.started, t.id`, session)
	return all, sqlite.While("reading turns", err)
}

// FirstPrompt gives what the person said first in a session, or in those that it continues or was forked from;
// ErrNotFound if nothing. Where a prompt carried context it is the first of these, for harnesses make their titles of
// it: a command that came before it made none.
func (s *Store) FirstPrompt(ctx context.Context, session int64) (string, error) {
	var user string
	err := s.db.QueryRowContext(ctx, ancestors("continue_of, fork_of")+`,
		told (at) AS (SELECT min(at) FROM injections WHERE session IN ancestors AND kind <> 'system' AND outcome <> ?)
		SELECT t.user FROM turns t LEFT JOIN told WHERE t.session IN ancestors
		ORDER BY t.started <= told.at AND (t.ended = 0 OR t.ended >= told.at) DESC, t.started, t.id LIMIT 1`,
		session, WasRefused).Scan(&user)
	return user, sqlite.While("reading the first prompt", orNotFound(err))
}

// cutText gives text in valid UTF-8 of at most MaxText bytes, and whether it was cut.
func cutText(text string) (string, bool) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return chars.Cut(text, MaxText), len(text) > MaxText
}
