package delivery

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

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
	off, err := a.store.Bypassed(ctx, a.d.Key)
	if err != nil {
		return "", err
	}
	post, err := a.store.Select(ctx, a.d)
	if err != nil {
		return "", err
	}
	if off {
		return "switched off", a.store.Delivered(ctx, a.d, post, switchedOff)
	}
	if !post.Wait.IsZero() {
		return "not worth it yet", a.store.Defer(ctx, a.d, post.Wait)
	}
	parts := cutIntoParts(post) // the same as before, where some were posted
	apart := !post.First || len(parts) > 1 || a.d.Reason == correlation.SoFar
	if apart {
		off, err := to.daemon.SwitchedOff(ctx, a.d.Key)
		if err != nil {
			return "not reached", a.store.Retry(ctx, a.d, err.Error())
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
			return "no text", a.store.Delivered(ctx, a.d, p.post, "no text")
		}
		end := signet.End{
			Session: a.who(), Reason: reasonFor(a.d), Text: p.text, Again: a.d.Unanswered != 0 && i == a.d.Parts,
		}
		if apart {
			end.Session.Key = fmt.Sprintf("%s.%d.%d", a.d.Key, a.d.ID, i+1)
		}
		reply, err := a.withFile(ctx, p, func(file string) (Reply, error) {
			end.File = file
			return to.daemon.End(ctx, end)
		})
		if did, err := a.settle(ctx, to, reply, err); did != "" {
			return did, err
		}
		if !apart {
			if err := a.store.EndKey(ctx, a.d.Key, a.d.URL); err != nil {
				return "", err
			}
		}
		if !reply.Dropped {
			p.post.Job = correlation.Job{Key: end.Session.Key, ID: reply.Job}
		}
		switch last := i+1 == len(parts); {
		case reply.Off:
			return a.switchedOff(ctx, post)
		case last, reply.Dropped:
			return a.conclude(ctx, to, p.post, reply, nil)
		}
		if err := a.store.Part(ctx, a.d, p.post, reply.Note); err != nil {
			return "", err
		}
	}
	return "", nil
}

// switchedOff notes that a person has switched the session off. That is final, for all turns.
func (a *attempt) switchedOff(ctx context.Context, post correlation.Selection) (string, error) {
	if err := a.store.Bypass(ctx, a.d.Key); err != nil {
		return "", err
	}
	return "switched off", a.store.Delivered(ctx, a.d, post, switchedOff)
}

// deliverSummary delivers a compaction's summary to the daemon, and returns the outcome for the log.
func (a *attempt) deliverSummary(ctx context.Context, to *daemonState) (string, error) {
	summary, _ := privacy.WithoutPrivate(a.d.Payload)
	if err := a.store.Attempt(ctx, a.d, correlation.Selection{}); err != nil {
		return "", err
	}
	reply, err := to.daemon.Compacted(ctx, a.who(), privacy.Redact(summary))
	return a.conclude(ctx, to, correlation.Selection{}, reply, err)
}

// deliverMemory delivers what a tool stored, and returns the outcome for the log. A post without an answer can be
// repeated, because Remember checks whether the daemon has the memory.
func (a *attempt) deliverMemory(ctx context.Context, to *daemonState) (string, error) {
	var m signet.Note
	if err := json.Unmarshal([]byte(a.d.Payload), &m); err != nil || m.Content == "" {
		return "dropped", a.store.Dropped(ctx, a.d, correlation.Selection{}, "", "it cannot be read")
	}
	if m.Content = privacy.Redact(m.Content); m.AgentID == "" {
		m.AgentID = a.who().AgentID
	}
	if err := a.store.Attempt(ctx, a.d, correlation.Selection{}); err != nil {
		return "", err
	}
	reply, err := to.daemon.Remember(ctx, m)
	return a.conclude(ctx, to, correlation.Selection{}, reply, err)
}
