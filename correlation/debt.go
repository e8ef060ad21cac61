package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Kinds of debts.
const (
	KindDaemon     = "daemon"     // a session-end with the transcript, for the daemon
	KindHook       = "hook"       // the command that is configured as on_session_end
	KindCompaction = "compaction" // a compaction-complete; the payload is the summary
	KindMemory     = "memory"     // what a tool stored while the daemon did not answer; the payload is the memory
)

// A DebtState says how far a debt's delivery has come. Owed and unknown debts are open until Done is set.
type DebtState string

const (
	Owed      DebtState = "owed"
	Unknown   DebtState = "unknown" // posted without an answer; repeated once
	Delivered DebtState = "delivered"
	Dropped   DebtState = "dropped" // answered, and not accepted
	Dead      DebtState = "dead"    // given up after 14 days
)

const (
	minBackoff = time.Second
	maxBackoff = time.Hour
	giveUp     = 14 * 24 * time.Hour
)

// A Debt is something that is owed to the daemon or to the hook. It is delivered by one process at a time: who delivers
// holds a lock for the database (package delivery).
type Debt struct {
	ID, Session int64
	Key         string // the Signet key under which it is delivered
	Kind        string
	Reason      string // why the process ended
	URL         string // the daemon's, where a person named one
	AgentID     string // Signet's, as the session had it
	// of a hook: the command with its arguments; empty: the row is of a version that did not store it
	HookCommand         []string
	State               DebtState
	Owed, Due           time.Time
	Done                time.Time // zero: open
	Attempts            int
	Unanswered          int       // how many posts got no answer, or perhapsPosted
	Parts               int       // how many parts of a long transcript were answered
	Posted              time.Time // not zero: a post is under way, or was when its worker died
	FirstTurn, LastTurn int64     // rows of the turns in the last post
	Turns               int       // in it, and in the parts before it
	Waits               bool      // left for later on purpose: it is not worth a job yet, or the daemon asked for that
	Reply, Error        string
	Payload             string
	Jobs                []Job // what the daemon makes of its parts

	failures int   // in a row
	again    bool  // more became owed since it was taken up
	postedTo int64 // the last turn of what was begun to be posted
}

const debtColumns = `d.id, d.session, d.key, d.kind, d.reason, d.url, d.agent_id, d.hook_command,
	d.state, d.owed, d.due, d.done, d.attempts, d.failures, d.unanswered, d.parts, d.waits, d.again,
	d.posted, d.first_turn, d.last_turn, d.turns, d.reply, d.error, d.payload, d.posted_to,
	d.jobs`

func scanDebt(row sqlite.Row) (d Debt, err error) {
	var owed, due, done, posted int64
	var command, jobs []byte
	err = row.Scan(&d.ID, &d.Session, &d.Key, &d.Kind, &d.Reason, &d.URL, &d.AgentID, &command, &d.State,
		&owed, &due, &done, &d.Attempts, &d.failures, &d.Unanswered, &d.Parts, &d.Waits, &d.again,
		&posted, &d.FirstTurn, &d.LastTurn, &d.Turns, &d.Reply, &d.Error, &d.Payload, &d.postedTo,
		&jobs)
	d.Owed, d.Due = sqlite.Unstamp(owed), sqlite.Unstamp(due)
	d.Done, d.Posted = sqlite.Unstamp(done), sqlite.Unstamp(posted)
	if err == nil && len(command) > 0 {
		err = json.Unmarshal(command, &d.HookCommand)
	}
	if err == nil {
		err = json.Unmarshal(jobs, &d.Jobs)
	}
	return d, err
}

// begun reports whether some of the debt was taken, or may have been: its delivery goes on with the same turns.
func (d Debt) begun() bool { return d.Parts > 0 || d.Unanswered != 0 }

// column is the column of turns with the debt of this kind whose delivery took a turn.
func (d Debt) column() string {
	if d.Kind == KindHook {
		return "hook_delivery"
	}
	return "daemon_delivery"
}

// DebtsOf returns the debts of a session and of those that it continues, oldest first.
func (s Book) DebtsOf(ctx context.Context, session int64) ([]Debt, error) {
	return collect(ctx, s.db, "listing debts", scanDebt, ancestors("continue_of")+` SELECT `+debtColumns+`
		FROM debts d WHERE d.session IN ancestors ORDER BY d.id`, session)
}

// Elsewhere reports whether the debt is for a daemon that a person named, at another address than url.
func (d Debt) Elsewhere(url string) bool { return d.Kind != KindHook && d.URL != "" && d.URL != url }

// Move makes what is owed to daemons at other addresses, or was given up there, owed to the one at url, which is then
// asked about jobs, too, and taken to hold the keys. It returns how many debts these were.
func (s Debts) Move(ctx context.Context, url string) (n int, err error) {
	err = s.write(ctx, "moving what is owed", func(tx *sql.Tx) error {
		moved, err := sqlite.Change(ctx, tx, `UPDATE OR IGNORE debts SET url = ?1, due = ?2, done = 0, failures = 0,
			owed = iif(state = ?3, ?2, owed), state = iif(state = ?3, ?4, state), error = ''
			WHERE (done = 0 OR state = ?3) AND kind <> ?5 AND url NOT IN ('', ?1)`, url, sqlite.Stamp(s.now()), Dead,
			Owed, KindHook)
		if n = int(moved); err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE debts SET url = ?1 WHERE ask > 0 AND url NOT IN ('', ?1)`, url)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE session_keys SET held = json_array(?1)
				WHERE ended = 0 AND started > 0 AND held <> json_array(?1)`, url)
		}
		return err
	})
	return n, err
}

// Outstanding returns the debts that are open, dead, or unknown for good, oldest first.
func (s Debts) Outstanding(ctx context.Context) ([]Debt, error) {
	return collect(ctx, s.db, "listing debts", scanDebt, `SELECT `+debtColumns+` FROM debts d
		WHERE d.done = 0 OR d.state IN (?, ?) ORDER BY d.id`, Dead, Unknown)
}

// A Job is what a daemon makes of a part of a transcript that it has taken.
type Job struct {
	Key   string   `json:"key"`          // that the part was posted under
	ID    string   `json:"id,omitempty"` // the daemon's, if it named one
	Turns []int64  `json:"turns"`        // rows of the turns that end in the part
	State JobState `json:"state"`
}

// A JobState says how far a job has come.
type JobState string

const (
	JobPending   JobState = "pending"   // or the daemon was not asked yet
	JobExtracted JobState = "extracted" // there are memories of it
	JobDead      JobState = "dead"      // given up, as without a working model
	JobEmpty     JobState = "empty"     // done, and nothing was worth a memory
	JobUnknown   JobState = "unknown"   // the daemon does not tell
)
