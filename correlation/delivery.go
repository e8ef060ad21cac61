package correlation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Kinds of deliveries.
const (
	KindDaemon     = "daemon"     // a session-end with the transcript, for the daemon
	KindHook       = "hook"       // the command that is configured as on_session_end
	KindCompaction = "compaction" // a compaction-complete; the payload is the summary
	KindMemory     = "memory"     // what a tool stored while the daemon did not answer; the payload is the memory
)

// A DeliveryState says how far a delivery has come. Owed and unknown deliveries are open until Done is set.
type DeliveryState string

const (
	Owed      DeliveryState = "owed"
	Unknown   DeliveryState = "unknown" // posted without an answer; repeated once
	Delivered DeliveryState = "delivered"
	Dropped   DeliveryState = "dropped" // answered, and not accepted
	Dead      DeliveryState = "dead"    // given up after 14 days
)

const (
	// LeaseTime is how long a lease is valid without Renew. A dead worker's is free at once.
	LeaseTime = 5 * time.Minute

	minBackoff = time.Second
	maxBackoff = time.Hour
	giveUp     = 14 * 24 * time.Hour
)

// A Delivery is a row of the outbox: something that is owed to the daemon or to the hook.
type Delivery struct {
	ID, Session int64
	Key         string // the Signet key under which it is delivered
	Kind        string
	Reason      string // why the process ended
	URL         string // the daemon's, where a person named one
	AgentID     string // Signet's, as the session had it
	// of a hook: the command with its arguments; empty: the row is of a version that did not store it
	HookCommand         []string
	HookLimit           time.Duration // how long the hook may run; 0: the default
	State               DeliveryState
	Created, Owed, Due  time.Time
	Done                time.Time // zero: open
	Attempts            int
	Unanswered          int
	Parts               int // how many parts of a long transcript were answered
	Lease               string
	LeasedUntil         time.Time
	Posted              time.Time // not zero: a post is under way, or was when its worker died
	FirstTurn, LastTurn int64     // rows of the turns in the last post
	Turns               int
	// the transcript file that was written for the attempt under way; "": none
	File         string
	Reply, Error string
	Payload      string

	leases   int   // how often it was leased: with Lease it names the lease
	failures int   // in a row
	again    bool  // more became owed since it was leased, or since it was begun
	postedTo int64 // the last turn of what was begun to be posted
}

const deliveryColumns = `d.id, d.session, d.key, d.kind, d.reason, d.url, d.agent_id, d.hook_command, d.hook_limit,
	d.state, d.created, d.owed, d.due, d.done, d.attempts, d.failures, d.unanswered, d.parts, d.lease, d.leases,
	d.leased_until, d.again, d.posted, d.first_turn, d.last_turn, d.turns, d.file, d.reply, d.error, d.payload,
	d.posted_to`

func scanDelivery(row sqlite.Row) (d Delivery, err error) {
	var created, owed, due, done, until, posted, limit int64
	var command []byte
	err = row.Scan(&d.ID, &d.Session, &d.Key, &d.Kind, &d.Reason, &d.URL, &d.AgentID, &command, &limit, &d.State,
		&created, &owed, &due, &done, &d.Attempts, &d.failures, &d.Unanswered, &d.Parts, &d.Lease, &d.leases,
		&until, &d.again, &posted, &d.FirstTurn, &d.LastTurn, &d.Turns, &d.File, &d.Reply, &d.Error,
		&d.Payload, &d.postedTo)
	d.Created, d.Owed = sqlite.Unstamp(created), sqlite.Unstamp(owed)
	d.Due, d.Done = sqlite.Unstamp(due), sqlite.Unstamp(done)
	d.LeasedUntil, d.Posted = sqlite.Unstamp(until), sqlite.Unstamp(posted)
	d.HookLimit = time.Duration(limit) * time.Millisecond
	if err == nil && len(command) > 0 {
		err = json.Unmarshal(command, &d.HookCommand)
	}
	return d, err
}

// begun reports whether some of the delivery was taken, or may have been: it goes on with the same turns.
func (d Delivery) begun() bool { return d.Parts > 0 || d.Unanswered > 0 }

// column is the column of turns with the delivery of this kind that took a turn.
func (d Delivery) column() string {
	if d.Kind == KindHook {
		return "hook_delivery"
	}
	return "daemon_delivery"
}

// Deliveries returns the deliveries of a session and of those that it continues, oldest first.
func (s *Store) Deliveries(ctx context.Context, session int64) ([]Delivery, error) {
	return collect(ctx, s, "listing deliveries", scanDelivery, ancestors("continue_of")+` SELECT `+deliveryColumns+`
		FROM deliveries d WHERE d.session IN ancestors ORDER BY d.id`, session)
}

// Outstanding returns the deliveries that are open, dead, or unknown for good, oldest first.
func (s *Store) Outstanding(ctx context.Context) ([]Delivery, error) {
	return collect(ctx, s, "listing deliveries", scanDelivery, `SELECT `+deliveryColumns+` FROM deliveries d
		WHERE d.done = 0 OR d.state IN (?, ?) ORDER BY d.id`, Dead, Unknown)
}
