package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// An attempt is one attempt at a leased delivery.
type attempt struct {
	store *correlation.Store
	files transcripts
	owner string // the process that holds the lease
	d     correlation.Delivery
	// session is the one that the delivery belongs to.
	session correlation.Session
}

// Outcomes of attempts whose delivery waits on purpose.
const (
	notYet = "not worth it yet"
	later  = "later"
)

// noteLimit is how long storing the outcome of a post may take.
const noteLimit = 5 * time.Second

// withOwnTime runs what stores an outcome, with a deadline of its own: when the time for posting is over, what was
// posted must still be noted.
func withOwnTime(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	return f(ctx)
}

func (a *attempt) retry(ctx context.Context, why string, after time.Duration) error {
	return withOwnTime(ctx, func(ctx context.Context) error { return a.store.Retry(ctx, a.d, why, after) })
}

func (a *attempt) deferUntil(ctx context.Context, until time.Time) error {
	return withOwnTime(ctx, func(ctx context.Context) error { return a.store.Defer(ctx, a.d, until) })
}

func (a *attempt) delivered(ctx context.Context, post correlation.Selection, note string) error {
	return withOwnTime(ctx, func(ctx context.Context) error { return a.store.Delivered(ctx, a.d, post, note) })
}

func (a *attempt) dropped(ctx context.Context, post correlation.Selection, note, why string) error {
	return withOwnTime(ctx, func(ctx context.Context) error { return a.store.Dropped(ctx, a.d, post, note, why) })
}

// agent is the Signet agent of the delivery or, where that has none, of the session.
func (a *attempt) agent() string { return cmp.Or(a.d.AgentID, a.session.AgentID) }

// errLedger marks an error of the database before a post.
var errLedger = errors.New("noting the post")

// A diskError is an error of the disk before a post.
type diskError struct{ error }

// withFile posts a transcript that is in a file during the post. That a post is made is stored first, so that after a
// crash it is in doubt and not lost; and the file is removed before anything else is stored.
func (a *attempt) withFile(ctx context.Context, p part, post func(file string) (Reply, error)) (Reply, error) {
	file := filepath.Join(a.files.dir, fmt.Sprintf("%s-%d.txt", a.owner, a.d.ID))
	if err := a.store.Attempt(ctx, a.d, p.post, file); err != nil {
		return Reply{}, fmt.Errorf("%w: %w", errLedger, err)
	}
	defer a.files.remove(file)
	if err := a.files.write(file, p.text); err != nil {
		return Reply{}, diskError{fmt.Errorf("writing the transcript: %w", err)}
	}
	return post(file)
}

// settle stores what became of a post that was not taken now. did is "" for a post that was answered, and otherwise
// what happened.
func (a *attempt) settle(ctx context.Context, reply Reply, failed error) (did string, err error) {
	var disk diskError
	switch {
	case errors.As(failed, &disk):
		return "not written", errors.Join(failed, a.retry(ctx, failed.Error(), 0))
	case errors.Is(failed, errLedger):
		return "not noted", failed
	case errors.Is(failed, errNoAnswer):
		return "unanswered", withOwnTime(ctx,
			func(ctx context.Context) error { return a.store.Unanswered(ctx, a.d, failed.Error()) })
	case failed != nil:
		return "refused", a.retry(ctx, failed.Error(), 0)
	case reply.Later:
		return later, a.retry(ctx, reply.Note, reply.After)
	}
	return "", nil
}
