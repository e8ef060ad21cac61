package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A daemonState is a daemon and how it answered Health. A daemon that does not answer is not posted to, which would
// only leave the post in doubt.
type daemonState struct {
	daemon Daemon
	err    error // why nothing can be posted
}

// Reasons that daemons know for the end of a session (docs/facts/signet-daemon.md, "The end of a session"). With
// "clear" they would discard it.
const (
	reasonEnded = "session_shutdown"
	reasonDied  = "stale-session-sweep"
)

func reasonFor(d correlation.Debt) string {
	if d.Reason == "died" {
		return reasonDied
	}
	return reasonEnded
}

// switchedOff is the note of a delivery of a session that a person has switched off at the daemon.
const switchedOff = "nothing is kept: the session is bypassed at the daemon"

// deliverTurns delivers a session's new turns to the daemon, and returns the outcome for the log.
//
// Daemons from 0.145 on extract the longest transcript that they have had for a key, so a key is good for one. The
// session's own goes with all that was said, where that is said and done in one part; it ends the session there. All
// else goes under keys of its own, and the session's is freed once nobody uses it (freeKeys).
func (a *attempt) deliverTurns(ctx context.Context, to *daemonState) (string, error) {
	if to.err != nil {
		return "not reached", a.retry(ctx, to.err.Error())
	}
	off, err := a.store.Bypassed(ctx, a.d.Key)
	if err != nil {
		return "", err
	}
	post, err := a.store.Select(ctx, a.d)
	if err != nil {
		return "", err
	}
	if off {
		return "switched off", a.delivered(ctx, post, switchedOff)
	}
	if !post.Wait.IsZero() {
		return "not worth it yet", a.deferUntil(ctx, post.Wait)
	}
	parts := cutIntoParts(post) // the same as before, where some were posted
	apart := !post.First || len(parts) > 1 || a.d.Reason == correlation.SoFar
	if apart {
		off, err := to.daemon.SwitchedOff(ctx, a.d.Key)
		if err != nil {
			return "not reached", a.retry(ctx, err.Error())
		}
		if off {
			return a.switchedOff(ctx, post)
		}
	}
	return a.postParts(ctx, to, post, parts, apart)
}

// postParts posts the parts of a transcript that were not posted yet; apart: under keys of their own.
func (a *attempt) postParts(
	ctx context.Context, to *daemonState, post correlation.Selection, parts []part, apart bool,
) (string, error) {
	for i := min(a.d.Parts, len(parts)-1); i < len(parts); i++ {
		p := parts[i]
		if p.text == "" {
			return "nothing to say", a.delivered(ctx, p.post, "nothing was said")
		}
		end := End{
			Session: a.who(), Reason: reasonFor(a.d), Text: p.text, Again: a.d.Unanswered > 0 && i == a.d.Parts,
		}
		if apart {
			end.Session.Key = fmt.Sprintf("%s.%d.%d", a.d.Key, a.d.ID, i+1)
		}
		reply, err := a.withFile(ctx, p, func(file string) (Reply, error) {
			end.File = file
			return to.daemon.End(ctx, end)
		})
		if did, err := a.settlePost(ctx, to, reply, err); did != "" {
			return did, err
		}
		if !apart {
			if err := withOwnTime(ctx,
				func(ctx context.Context) error { return a.store.EndKey(ctx, a.d.Key, a.d.URL) }); err != nil {
				return "", err
			}
		}
		if !reply.Dropped {
			p.post.Job = correlation.Job{Key: end.Session.Key, ID: reply.Job}
		}
		switch last := i+1 == len(parts); {
		case reply.Off:
			return a.switchedOff(ctx, post)
		case reply.Dropped:
			return "dropped", a.dropped(ctx, p.post, reply.Note, reply.Why)
		case last:
			return "delivered", a.delivered(ctx, p.post, reply.Note)
		}
		if err := withOwnTime(ctx,
			func(ctx context.Context) error { return a.store.Part(ctx, a.d, p.post, reply.Note) }); err != nil {
			return "", err
		}
	}
	return "", nil
}

// switchedOff notes that a person has switched the session off. That is final, for all turns.
func (a *attempt) switchedOff(ctx context.Context, post correlation.Selection) (string, error) {
	if err := withOwnTime(ctx, func(ctx context.Context) error { return a.store.Bypass(ctx, a.d.Key) }); err != nil {
		return "", err
	}
	return "switched off", a.delivered(ctx, post, switchedOff)
}

// deliverSummary delivers a compaction's summary to the daemon, and returns the outcome for the log.
func (a *attempt) deliverSummary(ctx context.Context, to *daemonState) (string, error) {
	if to.err != nil {
		return "not reached", a.retry(ctx, to.err.Error())
	}
	summary, _ := privacy.WithoutPrivate(a.d.Payload)
	if err := a.store.Attempt(ctx, a.d, correlation.Selection{}); err != nil {
		return "", err
	}
	reply, err := to.daemon.Compacted(ctx, signet.Compaction{Session: a.who(),
		Summary: privacy.Redact(summary)})
	if did, err := a.settlePost(ctx, to, reply, err); did != "" {
		return did, err
	}
	return "delivered", a.delivered(ctx, correlation.Selection{}, reply.Note)
}

// deliverMemory delivers what a tool stored, and returns the outcome for the log. A post without an answer can be
// repeated, because Remember checks whether the daemon has the memory.
func (a *attempt) deliverMemory(ctx context.Context, to *daemonState) (string, error) {
	if to.err != nil {
		return "not reached", a.retry(ctx, to.err.Error())
	}
	var m Memory
	if err := json.Unmarshal([]byte(a.d.Payload), &m); err != nil || m.Content == "" {
		return "dropped", a.dropped(ctx, correlation.Selection{}, "", "it cannot be read")
	}
	if m.Content = privacy.Redact(m.Content); m.AgentID == "" {
		m.AgentID = a.who().AgentID
	}
	if err := a.store.Attempt(ctx, a.d, correlation.Selection{}); err != nil {
		return "", err
	}
	reply, err := to.daemon.Remember(ctx, m)
	switch {
	case errors.Is(err, errNoAnswer):
		to.err = fmt.Errorf("it did not answer before: %w", err)
		return "unanswered", a.retry(ctx, err.Error())
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
	if errors.Is(failed, errNoAnswer) {
		to.err = fmt.Errorf("it did not answer before: %w", failed)
	}
	return a.settle(ctx, reply, failed)
}
