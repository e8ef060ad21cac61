package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Reasons that daemons know as the end of a session (facts/signet-daemon.md, section 3); at "clear" they would discard it.
const (
	reasonEnded = "session_shutdown"
	reasonDied  = "stale-session-sweep"
)

func reasonFor(d correlation.Delivery) string {
	if d.Reason == "died" {
		return reasonDied
	}
	return reasonEnded
}

// minTranscript is how many characters an older daemon wants.
const minTranscript = 500

// deliverTurns hands a session's turns to the daemon.
func (w *Worker) deliverTurns(ctx context.Context, d correlation.Delivery, session correlation.Session) (string, error) {
	a := w.at(ctx, d.URL)
	if a.err != nil {
		return "not reached", w.retry(ctx, d, a.err.Error(), 0)
	}
	post, err := w.o.Store.Select(ctx, d, a.newer)
	if err != nil {
		return "", err
	}
	if !post.Wait.IsZero() {
		return "not worth it yet", w.note(ctx, func(ctx context.Context) error { return w.o.Store.Defer(ctx, d, post.Wait) })
	}
	parts := inParts(post, a.newer)
	for i, p := range parts {
		if p.text == "" {
			return "nothing to say", w.note(ctx, func(ctx context.Context) error { return w.o.Store.Delivered(ctx, d, p.post, "nothing was said") })
		}
		end := End{Key: d.Key, AgentID: session.AgentID, Cwd: session.Cwd, Reason: reasonFor(d)}
		if a.newer {
			end.Text = p.text
		}
		reply, err := w.withFile(ctx, d, p, func(file string) (Reply, error) {
			end.File = file
			return a.daemon.End(ctx, end)
		})
		if did, ended, err := w.settle(ctx, a, d, reply, err); ended {
			return did, err
		}
		last := i+1 == len(parts)
		switch {
		case !last:
			err = w.note(ctx, func(ctx context.Context) error { return w.o.Store.Part(ctx, d, p.post, reply.Note) })
		case reply.Dropped:
			if size := units(p.text); reply.Why == "" && !a.newer && size < minTranscript {
				reply.Why = fmt.Sprintf("under %d characters (%d)", minTranscript, size)
			}
			return "dropped", w.note(ctx, func(ctx context.Context) error { return w.o.Store.Dropped(ctx, d, p.post, reply.Note, reply.Why) })
		default:
			return "delivered", w.note(ctx, func(ctx context.Context) error { return w.o.Store.Delivered(ctx, d, p.post, reply.Note) })
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// deliverSummary hands a compaction's summary to the daemon.
func (w *Worker) deliverSummary(ctx context.Context, d correlation.Delivery, session correlation.Session) (string, error) {
	a := w.at(ctx, d.URL)
	if a.err != nil {
		return "not reached", w.retry(ctx, d, a.err.Error(), 0)
	}
	summary, _ := memory.WithoutPrivate(d.Payload)
	if err := w.o.Store.Attempt(ctx, d, correlation.Selection{}, ""); err != nil {
		return "", err
	}
	reply, err := a.daemon.Compacted(ctx, Compaction{Key: d.Key, AgentID: session.AgentID, Project: session.Project, Summary: memory.Redact(summary)})
	if did, ended, err := w.settle(ctx, a, d, reply, err); ended {
		return did, err
	}
	return "delivered", w.note(ctx, func(ctx context.Context) error {
		return w.o.Store.Delivered(ctx, d, correlation.Selection{}, reply.Note)
	})
}

// settle notes what became of a post that was not taken now; ended is false for one that was answered.
func (w *Worker) settle(ctx context.Context, a *asked, d correlation.Delivery, reply Reply, failed error) (did string, ended bool, err error) {
	var disk diskError
	switch {
	case errors.As(failed, &disk):
		return "", true, errors.Join(failed, w.retry(ctx, d, failed.Error(), 0))
	case errors.Is(failed, errLedger):
		return "", true, failed
	case errors.Is(failed, ErrNoAnswer):
		a.err = fmt.Errorf("it did not answer before: %w", failed) // the rest of the pass need not wait as long again
		return "unanswered", true, w.note(ctx, func(ctx context.Context) error { return w.o.Store.Unanswered(ctx, d, failed.Error()) })
	case failed != nil:
		return "refused", true, w.retry(ctx, d, failed.Error(), 0)
	case reply.Later:
		return "later", true, w.retry(ctx, d, reply.Note, reply.After)
	}
	return "", false, nil
}
