package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// An attempt is one attempt at delivering a debt.
type attempt struct {
	w     *Worker
	store correlation.Debts
	d     correlation.Debt
	// session is the one that the debt belongs to.
	session correlation.Session
}

// who is the session as the daemon was told of it. Its agent is the debt's or, where that has none, the session's.
func (a *attempt) who() memory.Session {
	return memory.Session{Key: a.d.Key, Harness: a.session.Harness, AgentID: cmp.Or(a.d.AgentID, a.session.AgentID),
		Cwd: a.session.Cwd, Project: a.session.Project}
}

// Errors before a post.
var (
	errLedger = errors.New("noting the post")
	errDisk   = errors.New("writing the transcript")
)

// withFile posts a transcript that is in a file during the post. That a post is made is stored first, so that after a
// crash it is in doubt and not lost; and the file is removed before anything else is stored.
func (a *attempt) withFile(ctx context.Context, p part, post func(file string) (Reply, error)) (Reply, error) {
	file := transcriptFile(a.w.Folder, a.d.ID)
	if err := a.store.Attempt(ctx, a.d, p.post); err != nil {
		return Reply{}, fmt.Errorf("%w: %w", errLedger, err)
	}
	defer a.w.removeTranscript(file)
	if err := writeTranscript(file, p.text); err != nil {
		return Reply{}, fmt.Errorf("%w: %w", errDisk, err)
	}
	return post(file)
}

// settle stores what became of a post that was not taken now. did is "" for a post that was answered, and otherwise
// what happened. The rest of a pass posts nothing to a daemon that did not answer; to is nil for a hook.
func (a *attempt) settle(ctx context.Context, to *daemonState, reply Reply, failed error) (did string, err error) {
	if errors.Is(failed, signet.ErrNoAnswer) && to != nil {
		to.err = fmt.Errorf("it did not answer before: %w", failed)
	}
	switch {
	case errors.Is(failed, errDisk):
		return "not written", errors.Join(failed, a.store.Retry(ctx, a.d, failed.Error()))
	case errors.Is(failed, errLedger):
		return "not noted", failed
	case errors.Is(failed, signet.ErrNoAnswer):
		return "unanswered", a.store.Unanswered(ctx, a.d, failed.Error())
	case failed != nil:
		return "refused", a.store.Retry(ctx, a.d, failed.Error())
	case reply.Later:
		return "later", a.store.Later(ctx, a.d, reply.Note, reply.After)
	}
	return "", nil
}

// conclude stores what became of the last post of a delivery, and returns the outcome for the log.
func (a *attempt) conclude(
	ctx context.Context, to *daemonState, post correlation.Selection, reply Reply, failed error,
) (string, error) {
	if did, err := a.settle(ctx, to, reply, failed); did != "" {
		return did, err
	}
	if reply.Dropped {
		return "dropped", a.store.Dropped(ctx, a.d, post, reply.Note, reply.Why)
	}
	return "delivered", a.store.Delivered(ctx, a.d, post, reply.Note)
}
