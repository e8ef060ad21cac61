package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// An attempt is one attempt at delivering a debt.
type attempt struct {
	store correlation.Debts
	files transcripts
	d     correlation.Debt
	// session is the one that the debt belongs to.
	session correlation.Session
}

// noteLimit is how long storing the outcome of a post may take.
const noteLimit = 5 * time.Second

// withOwnTime runs what stores an outcome, with a deadline of its own: when the time for posting is over, what was
// posted must still be noted.
func withOwnTime(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	return f(ctx)
}

func (a *attempt) retry(ctx context.Context, why string) error {
	return withOwnTime(ctx, func(ctx context.Context) error { return a.store.Retry(ctx, a.d, why) })
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

// who is the session as the daemon was told of it. Its agent is the debt's or, where that has none, the session's.
func (a *attempt) who() memory.Session {
	return memory.Session{Key: a.d.Key, Harness: a.session.Harness, AgentID: cmp.Or(a.d.AgentID, a.session.AgentID),
		Cwd: a.session.Cwd, Project: a.session.Project}
}

// errLedger marks an error of the database before a post.
var errLedger = errors.New("noting the post")

// A diskError is an error of the disk before a post.
type diskError struct{ error }

// withFile posts a transcript that is in a file during the post. That a post is made is stored first, so that after a
// crash it is in doubt and not lost; and the file is removed before anything else is stored.
func (a *attempt) withFile(ctx context.Context, p part, post func(file string) (Reply, error)) (Reply, error) {
	file := transcriptFile(a.files.dir, a.d.ID)
	if err := a.store.Attempt(ctx, a.d, p.post); err != nil {
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
		return "not written", errors.Join(failed, a.retry(ctx, failed.Error()))
	case errors.Is(failed, errLedger):
		return "not noted", failed
	case errors.Is(failed, errNoAnswer):
		return "unanswered", withOwnTime(ctx,
			func(ctx context.Context) error { return a.store.Unanswered(ctx, a.d, failed.Error()) })
	case failed != nil:
		return "refused", a.retry(ctx, failed.Error())
	case reply.Later:
		return "later", withOwnTime(ctx,
			func(ctx context.Context) error { return a.store.Later(ctx, a.d, reply.Note, reply.After) })
	}
	return "", nil
}
