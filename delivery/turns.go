package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// A daemonState is a daemon and how it answered Health. A daemon that does not answer is not posted to, which would
// only leave the post in doubt.
type daemonState struct {
	daemon Daemon
	whole  bool  // it reads a session's transcript whole each time
	err    error // why nothing can be posted
}

// Reasons that daemons know for the end of a session (docs/facts/signet-daemon.md, "The end of a session"). With
// "clear" they would discard it.
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

// switchedOff is the note of a delivery of a session that a person has switched off at the daemon.
const switchedOff = "nothing is kept: the session is bypassed at the daemon"

// minTranscript is how many characters a transcript needs for an older daemon to make a job of it.
const minTranscript = 500

// handTurns hands a session's turns to the daemon, and gives the outcome for the log.
func (a *attempt) handTurns(ctx context.Context, to *daemonState) (string, error) {
	if to.err != nil {
		return "not reached", a.retry(ctx, to.err.Error(), 0)
	}
	off, err := a.store.Bypassed(ctx, a.d.Key)
	if err != nil {
		return "", err
	}
	post, err := a.store.Select(ctx, a.d, to.whole)
	if err != nil {
		return "", err
	}
	if off {
		return "switched off", a.delivered(ctx, post, switchedOff)
	}
	if !post.Wait.IsZero() {
		return notYet, a.deferUntil(ctx, post.Wait)
	}
	parts := cutIntoParts(post, to.whole)
	for i, p := range parts {
		if p.text == "" {
			return "nothing to say", a.delivered(ctx, p.post, "nothing was said")
		}
		end := End{
			Key: a.d.Key, AgentID: a.agent(), Cwd: a.session.Cwd, Project: a.session.Project, Reason: reasonFor(a.d),
			Again: i == 0 && a.d.Unanswered > 0,
		}
		if to.whole {
			end.Text = p.text
		}
		if to.whole && a.d.Reason == correlation.SoFar {
			if did, err := a.checkpoint(ctx, to, end); did != "" {
				return did, err
			}
		}
		reply, err := a.withFile(ctx, p, func(file string) (Reply, error) {
			end.File = file
			return to.daemon.End(ctx, end)
		})
		if did, err := a.settlePost(ctx, to, reply, err); did != "" {
			return did, err
		}
		if reply.Off { // final, for all turns
			if err := withOwnTime(ctx,
				func(ctx context.Context) error { return a.store.Bypass(ctx, a.d.Key) }); err != nil {
				return "", err
			}
			return "switched off", a.delivered(ctx, post, switchedOff)
		}
		if i+1 < len(parts) {
			if err := withOwnTime(ctx,
				func(ctx context.Context) error { return a.store.Part(ctx, a.d, p.post, reply.Note) }); err != nil {
				return "", err
			}
			continue
		}
		if reply.Dropped {
			if size := units(p.text); reply.Why == "" && !to.whole && size < minTranscript {
				reply.Why = fmt.Sprintf("under %d characters (%d)", minTranscript, size)
			}
			return "dropped", a.dropped(ctx, p.post, reply.Note, reply.Why)
		}
		return "delivered", a.delivered(ctx, p.post, reply.Note)
	}
	return "", nil
}

// checkpoint hands over what a session that goes on has said, where the daemon has a request for that. did is the
// outcome, "" where there is no such request. The turns stay owed: the session's end hands over the whole.
func (a *attempt) checkpoint(ctx context.Context, to *daemonState, end End) (did string, err error) {
	if err := a.store.Attempt(ctx, a.d, correlation.Selection{}, ""); err != nil {
		return "", err
	}
	reply, err := to.daemon.Checkpoint(ctx, end)
	if errors.Is(err, ErrNotOffered) {
		return "", nil
	}
	if did, err := a.settlePost(ctx, to, reply, err); did != "" {
		return did, err
	}
	return "delivered", a.delivered(ctx, correlation.Selection{}, reply.Note)
}

// handSummary hands a compaction's summary to the daemon, and gives the outcome for the log.
func (a *attempt) handSummary(ctx context.Context, to *daemonState) (string, error) {
	if to.err != nil {
		return "not reached", a.retry(ctx, to.err.Error(), 0)
	}
	summary, _ := privacy.WithoutPrivate(a.d.Payload)
	if err := a.store.Attempt(ctx, a.d, correlation.Selection{}, ""); err != nil {
		return "", err
	}
	reply, err := to.daemon.Compacted(ctx, Compaction{Key: a.d.Key, AgentID: a.agent(), Project: a.session.Project,
		Summary: privacy.Redact(summary)})
	if did, err := a.settlePost(ctx, to, reply, err); did != "" {
		return did, err
	}
	return "delivered", a.delivered(ctx, correlation.Selection{}, reply.Note)
}

// handMemory hands over what a tool stored, and gives the outcome for the log. A post without an answer can be
// repeated, because Remember checks whether the daemon has the memory.
func (a *attempt) handMemory(ctx context.Context, to *daemonState) (string, error) {
	if to.err != nil {
		return "not reached", a.retry(ctx, to.err.Error(), 0)
	}
	var m Memory
	if err := json.Unmarshal([]byte(a.d.Payload), &m); err != nil || m.Content == "" {
		return "dropped", a.dropped(ctx, correlation.Selection{}, "", "it cannot be read")
	}
	if m.Content = privacy.Redact(m.Content); m.AgentID == "" {
		m.AgentID = a.agent()
	}
	if err := a.store.Attempt(ctx, a.d, correlation.Selection{}, ""); err != nil {
		return "", err
	}
	reply, err := to.daemon.Remember(ctx, m)
	switch {
	case errors.Is(err, ErrNoAnswer):
		to.err = fmt.Errorf("it did not answer before: %w", err)
		return "unanswered", a.retry(ctx, err.Error(), 0)
	case err == nil && reply.Dropped:
		return "dropped", a.dropped(ctx, correlation.Selection{}, reply.Note, reply.Why)
	}
	if did, err := a.settle(ctx, reply, err); did != "" {
		return did, err
	}
	return "delivered", a.delivered(ctx, correlation.Selection{}, reply.Note)
}

// settlePost does what settle does, and keeps the rest of a pass from posting to a daemon that did not answer.
func (a *attempt) settlePost(ctx context.Context, to *daemonState, reply Reply, failed error) (string, error) {
	if errors.Is(failed, ErrNoAnswer) {
		to.err = fmt.Errorf("it did not answer before: %w", failed)
	}
	return a.settle(ctx, reply, failed)
}
