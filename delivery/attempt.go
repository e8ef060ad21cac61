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

// An attempt is one try at a delivery that is leased.
type attempt struct {
	store *correlation.Store
	files folder
	owner string // whose lease it is
	d     correlation.Delivery
	// session is the one that it was said in.
	session correlation.Session
}

// What an attempt says of itself where the delivery waits on purpose.
const (
	notYet = "not worth it yet"
	later  = "later"
)

// noteLimit is for noting what became of a post, also when the time for posting is over.
const noteLimit = 5 * time.Second

// inItsTime runs what records an outcome, in a time of its own: what was posted must not be forgotten because the
// time for posting is over.
func inItsTime(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	return f(ctx)
}

func (a *attempt) retry(ctx context.Context, why string, after time.Duration) error {
	return inItsTime(ctx, func(ctx context.Context) error { return a.store.Retry(ctx, a.d, why, after) })
}

func (a *attempt) wait(ctx context.Context, until time.Time) error {
	return inItsTime(ctx, func(ctx context.Context) error { return a.store.Defer(ctx, a.d, until) })
}

func (a *attempt) delivered(ctx context.Context, post correlation.Selection, note string) error {
	return inItsTime(ctx, func(ctx context.Context) error { return a.store.Delivered(ctx, a.d, post, note) })
}

func (a *attempt) dropped(ctx context.Context, post correlation.Selection, note, why string) error {
	return inItsTime(ctx, func(ctx context.Context) error { return a.store.Dropped(ctx, a.d, post, note, why) })
}

// agent is Signet's agent: the one that the row carries, else the session's.
func (a *attempt) agent() string { return cmp.Or(a.d.AgentID, a.session.AgentID) }

// errLedger marks an error of the database before the post.
var errLedger = errors.New("noting the post")

// A diskError is one of the disk before the post.
type diskError struct{ error }

// withFile posts a transcript that lies in a file meanwhile. The post is noted first, so that a worker that dies from
// here on leaves a doubt, not a loss, and the file is gone before anything else is noted.
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

// settle notes what became of a post that was not taken now; it gives "" for one that was answered, and otherwise
// what happened.
func (a *attempt) settle(ctx context.Context, reply Reply, failed error) (did string, err error) {
	var disk diskError
	switch {
	case errors.As(failed, &disk):
		return "not written", errors.Join(failed, a.retry(ctx, failed.Error(), 0))
	case errors.Is(failed, errLedger):
		return "not noted", failed
	case errors.Is(failed, ErrNoAnswer):
		return "unanswered", inItsTime(ctx,
			func(ctx context.Context) error { return a.store.Unanswered(ctx, a.d, failed.Error()) })
	case failed != nil:
		return "refused", a.retry(ctx, failed.Error(), 0)
	case reply.Later:
		return later, a.retry(ctx, reply.Note, reply.After)
	}
	return "", nil
}
