package delivery

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// runHook runs on_session_end for a session's turns that it was not run for: the command that the delivery carries,
// else the configured one. If it fails it is run again later, like a post.
func (a *attempt) runHook(ctx context.Context, hook Hook) (string, error) {
	if len(a.d.HookCommand) > 0 {
		hook = Hook{a.d.HookCommand, a.d.HookLimit}
	}
	if len(hook.Command) == 0 {
		return "dropped", a.dropped(ctx, correlation.Selection{}, "", "on_session_end is not configured any more")
	}
	post, err := a.store.Select(ctx, a.d)
	if err != nil {
		return "", err
	}
	p := part{join(transcript(post, 0)), post}
	if p.text == "" {
		return "nothing to say", a.delivered(ctx, p.post, "nothing was said")
	}
	last := post.Turns[len(post.Turns)-1]
	in := hookInput{
		AcpxSessionID: a.session.ACPID, AcpxRecordID: a.session.Record, SignetSessionKey: a.d.Key,
		Harness: a.session.Harness, Cwd: a.session.Cwd,
		Project: a.session.Project, Started: a.session.Started.UTC(), Ended: last.Ended.UTC(), Turns: len(post.Turns),
		Reason: a.d.Reason,
	}
	reply, err := a.withFile(ctx, p, func(file string) (Reply, error) {
		in.TranscriptPath = file
		output, err := hook.run(ctx, in, func() error { return a.store.Renew(ctx, a.d) })
		return Reply{Note: output}, err
	})
	if did, err := a.settle(ctx, reply, err); did != "" {
		return did, err
	}
	return "delivered", a.delivered(ctx, p.post, reply.Note)
}
