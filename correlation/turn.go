package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// maxText is how many bytes of a turn's prompt, and of its answer, are kept. What is longer is cut there, and the turn
// marked as truncated.
const maxText = 1 << 20

// MaxTools is how many tool calls of a turn are kept.
const MaxTools = 256

// A ToolCall is what is kept of a tool call: of its input the command alone, of its output how that ended.
type ToolCall struct {
	ID           string   `json:"id,omitempty"` // the harness's, cut to 128 bytes
	Title        string   `json:"title"`
	Kind         string   `json:"kind"` // ACP's, or PlanKind
	Status       string   `json:"status"`
	Locations    []string `json:"locations,omitempty"` // paths
	Milliseconds int64    `json:"ms,omitempty"`        // from its first to its last report
	Command      string   `json:"command,omitempty"`   // where the title is another
	Exit         *int     `json:"exit,omitempty"`      // of the command; nil: not known
	Steps        []string `json:"steps,omitempty"`     // of a plan: those that are not done
}

// PlanKind is the kind of a plan, which is kept as a tool call: agents make plans by a tool.
const PlanKind = "plan"

const (
	maxToolID    = 128 // bytes
	maxTitle     = 500
	maxWord      = 32 // of a kind and of a status, which the protocol enumerates
	maxLocations = 16
	maxLocation  = 512
	maxSteps     = 32
)

// bounded returns the call cut to the sizes that are stored.
func (t ToolCall) bounded() ToolCall {
	t.ID, t.Title = chars.Cut(t.ID, maxToolID), chars.Cut(t.Title, maxTitle)
	t.Kind, t.Status = chars.Cut(t.Kind, maxWord), chars.Cut(t.Status, maxWord)
	t.Command = chars.Cut(t.Command, maxTitle)
	t.Locations = cutAll(t.Locations, maxLocations, maxLocation)
	t.Steps = cutAll(t.Steps, maxSteps, maxTitle)
	return t
}

// cutAll returns at most so many texts, each of at most so many bytes.
func cutAll(texts []string, most, bytes int) []string {
	texts = slices.Clone(texts[:min(len(texts), most)])
	for i, text := range texts {
		texts[i] = chars.Cut(text, bytes)
	}
	return texts
}

// Merge takes over the fields of a later report that are not empty.
func (t *ToolCall) Merge(later ToolCall) {
	set := func(have *string, now string) {
		if now != "" {
			*have = now
		}
	}
	set(&t.Title, later.Title)
	set(&t.Kind, later.Kind)
	set(&t.Status, later.Status)
	set(&t.Command, later.Command)
	if len(later.Locations) > 0 {
		t.Locations = later.Locations
	}
	if later.Exit != nil {
		t.Exit = later.Exit
	}
	if later.Kind == PlanKind {
		t.Steps = later.Steps
	}
	t.Milliseconds = max(t.Milliseconds, later.Milliseconds)
}

// A Turn is what a person said and what the assistant answered. Callers take out <private> and secrets before they
// store it.
type Turn struct {
	ID, Session int64
	Key         string // empty in a new one: the session's current one
	Process     string
	Delegation  string // the delegation in which User was said, by who delegated; "": a person said it
	User        string // the person's own words, never the wire's
	Assistant   string // to be stored with chars.ToolMark where it called tools, read without
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
	t.code, t.truncated, t.learned, t.daemon_delivery, t.delegation`

func scanTurn(row sqlite.Row) (t Turn, err error) {
	var started, ended int64
	var tools []byte
	err = row.Scan(&t.ID, &t.Session, &t.Key, &t.Process, &t.User, &t.Assistant, &tools, &started, &ended, &t.Stop,
		&t.Code, &t.Truncated, &t.Learned, &t.Delivered, &t.Delegation)
	if err != nil {
		return t, err
	}
	t.User, t.Assistant = chars.WithoutBlockMarks(t.User), chars.WithoutToolMarks(t.Assistant)
	t.Started, t.Ended = sqlite.Unstamp(started), sqlite.Unstamp(ended)
	return t, json.Unmarshal(tools, &t.Tools)
}

// bounded returns the turn cut to the sizes that are stored, and its tool calls as JSON.
func (t Turn) bounded() (Turn, string, error) {
	var cutUser, cut bool
	t.User, cutUser = cutText(t.User)
	t.Assistant, cut = cutText(t.Assistant)
	if len(t.Tools) > MaxTools {
		t.Tools, cut = t.Tools[:MaxTools], true
	}
	if t.Tools == nil {
		t.Tools = []ToolCall{}
	}
	t.Truncated = t.Truncated || cut || cutUser
	tools, err := json.Marshal(t.Tools)
	return t, string(tools), err
}

// insert adds the turn, with its number in the events of its process, 0 for none.
func (t Turn) insert(ctx context.Context, tx *sql.Tx, n int) (id int64, err error) {
	t, tools, err := t.bounded()
	if err != nil {
		return 0, err
	}
	id, err = sqlite.One[int64](tx.QueryRowContext(ctx, `INSERT INTO turns (session, key, process, n, started, ended,
		stop, code, truncated, tools, user, assistant, delegation)
		SELECT id, coalesce(nullif(?, ''), key), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?
		RETURNING id`, t.Key, t.Process, n, sqlite.Stamp(t.Started), sqlite.Stamp(t.Ended), t.Stop, t.Code,
		t.Truncated, tools, t.User, t.Assistant, t.Delegation, t.Session))
	return id, orNotFound(err)
}

// forgotten replaces in a turn what a person had forgotten (memory/embedded).
const forgotten = "[forgotten]"

// hasGrown reports whether a turn is this one, with more of the answer.
func (t Turn) hasGrown(now Turn) bool {
	return t.ID != 0 && t.User == now.User && len(now.Assistant) > len(t.Assistant) &&
		strings.HasPrefix(now.Assistant, t.Assistant)
}

// Turns returns the turns of a session and of those that it continues, in the order in which their prompts left. Rows
// of several processes may be in another order, because each folds its events in by itself.
func (s Book) Turns(ctx context.Context, session int64) ([]Turn, error) {
	return collect(ctx, s.db, "reading turns", scanTurn, ancestors("continue_of")+` SELECT `+turnColumns+` FROM turns t
		WHERE t.session IN ancestors ORDER BY t.started, t.id`, session)
}

// FirstPrompt returns the first prompt of a session, or of those that it continues or was forked from, or ErrNotFound.
// If a prompt carried a block it is the first that did: harnesses make their titles from it, and not from a command
// before it.
func (s *Store) FirstPrompt(ctx context.Context, session int64) (string, error) {
	user, err := sqlite.One[string](s.db.QueryRowContext(ctx, ancestors("continue_of, fork_of")+`,
		told (at) AS (SELECT min(at) FROM injections WHERE session IN ancestors AND kind <> 'system' AND outcome <> ?)
		SELECT t.user FROM turns t LEFT JOIN told WHERE t.session IN ancestors
		ORDER BY t.started <= told.at AND (t.ended = 0 OR t.ended >= told.at) DESC, t.started, t.id LIMIT 1`,
		session, WasRefused))
	return user, sqlite.While("reading the first prompt", orNotFound(err))
}

// cutText returns text as valid UTF-8 of at most maxText bytes, and whether it was cut.
func cutText(text string) (string, bool) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return chars.Cut(text, maxText), len(text) > maxText
}
