package proxy

import (
	"context"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const (
	// how long the disk is waited for
	flushLimit = 50 * time.Millisecond
	// how long a response waits for the words of its turn to be written: in the event file
	endLimit = 50 * time.Millisecond
	// how often text is recorded while an answer streams: kill -9 costs no more of it
	recordEvery = 250 * time.Millisecond
	minRest     = 20 * time.Millisecond // pause after recording, so that what comes meanwhile is recorded together
	maxUnsaved  = 256 << 10             // bytes that are queued before the disk is waited for
)

// A recorder decodes and redacts what was said and has it written: in one goroutine, beside the
// conversation. Only the response that ends a turn waits for that work.
type recorder struct {
	*env

	hurry   [session.Now + 1]chan struct{} // 1-buffered, by urgency: there is something to record
	flushes chan chan struct{}             // record at once, and close the channel
	stop    chan struct{}
	stopped chan struct{}

	// the goroutine's
	answers   map[*session.Turn]*privacy.Stream // of turns that have not ended; nil: the rest is not recorded
	unsaved   int                               // bytes since the disk was last waited for
	diskHangs bool                              // it was waited for in vain, in this round
}

func newRecorder(e *env) *recorder {
	r := &recorder{
		env:     e,
		flushes: make(chan chan struct{}), stop: make(chan struct{}), stopped: make(chan struct{}),
		answers: map[*session.Turn]*privacy.Stream{},
	}
	for urgency := range r.hurry {
		r.hurry[urgency] = make(chan struct{}, 1)
	}
	return r
}

// run is the recorder's goroutine.
func (r *recorder) run() {
	defer close(r.stopped)
	var due <-chan time.Time // nil: nothing is
	var at, rested time.Time // when that is; until when what is due soon waits
	record := func(next time.Time) {
		if due == nil || next.Before(at) {
			due, at = time.After(time.Until(next)), next
		}
	}
	for {
		later := r.hurry[session.Later]
		if due != nil { // it is recorded together
			later = nil
		}
		select {
		case <-later:
			record(time.Now().Add(recordEvery))
		case <-r.hurry[session.Soon]:
			record(rested)
		case <-r.hurry[session.Now]:
			record(time.Now())
		case <-due:
			due = nil
			began := time.Now()
			r.record()
			rested = time.Now().Add(max(minRest, pace.Rest(time.Since(began))))
		case done := <-r.flushes:
			r.recordFor(done)
		case <-r.stop:
			r.record()
			for t, answer := range r.answers { // of turns whose response never came
				if answer != nil {
					guard.Run("recorder", func() {
						r.add(t.Session, t, nil, appendSaid(nil, t.Number, answer.End(), 0)...)
					})
				}
			}
			return
		}
	}
}

// recordFor records what is due, and closes done in any case.
func (r *recorder) recordFor(done chan struct{}) {
	defer close(done)
	r.record()
}

// flush records all that was said so far, and waits for the disk for flushLimit at most.
func (r *recorder) flush() {
	r.recordNow(context.Background())
	_ = r.save() // what is not written by then is written later, or reported
}

// recordNow records all that was said so far, and waits until that is done or ctx ends.
func (r *recorder) recordNow(ctx context.Context) {
	done := make(chan struct{})
	select {
	case r.flushes <- done:
		select {
		case <-done:
		case <-ctx.Done():
		}
	case <-r.stopped:
	case <-ctx.Done():
	}
}

// end brings to the disk what a turn has said, prompt and answer, and behind it the event that it has ended; nil:
// nothing has to be written. The response waits for that, endLimit at most: a disk that hangs gets the words after the
// end, and the log says so.
func (r *recorder) end(t *session.Turn, ended correlation.Event) {
	if ended == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, endLimit)
	defer cancel()
	r.talk.Await(ctx, func(*session.Connection) bool { return t.Read() })
	r.recordNow(ctx)
	r.o.Heard(ended) // first: a slow disk does not keep the response, nor the next prompt
	_ = r.file.AppendWait(ctx, ended)
}

// close records what is left and joins the goroutine.
func (r *recorder) close() {
	close(r.stop)
	<-r.stopped
}

// record records what is due.
func (r *recorder) record() {
	var due session.Due
	r.talk.Tell(func(c *session.Connection) { due = c.TakeDue() })
	r.diskHangs = false
	private := map[*session.Session][]string{} // where this round has found more
	for _, d := range due.Turns {
		if d.Off {
			delete(r.answers, d.Turn)
			d.Turn.Answer.Take()
			continue
		}
		if all, ok := private[d.Turn.Session]; ok {
			d.Private = all
		}
		if !guard.Run("recorder", func() { private[d.Turn.Session] = r.recordTurn(d) }) {
			r.answers[d.Turn] = nil // what is private in the rest is not known any more
		}
		if d.Ended {
			delete(r.answers, d.Turn)
		}
	}
	guard.Run("recorder", func() { r.recordRest(due, private) })
}

// recordTurn records what is due of a turn: what the user said, in a prompt or in the middle of the turn, tool calls,
// and what the agent said. It returns what is private in the session.
func (r *recorder) recordTurn(d session.DueTurn) (private []string) {
	private = d.Private
	for _, p := range d.Prompts {
		words, more := p.Words()
		guard.Point("prompt's words")
		if err := r.o.Private.Keep(d.Project, more); err != nil {
			r.o.Log.Warn().Err(err).Int("turn", d.Number).Msg("private passages are known to this process only")
		}
		words = privacy.Redact(r.o.Task(words))
		r.waitForSpace(len(words))
		private = r.add(d.Turn.Session, d.Turn, more,
			correlation.UserSaid{Turn: d.Number, Text: words, Cut: p.Omitted > 0})
	}
	clean := func(text string) string { // commands and file names, which may repeat secrets
		return chars.Cut(r.o.Private.Conceal(d.Project, privacy.Clean(text, private)), maxTitle)
	}
	for _, call := range d.Tools {
		call.Title, call.Command = clean(call.Title), clean(call.Command)
		for i, step := range call.Steps {
			call.Steps[i] = clean(step)
		}
		for i, path := range call.Locations {
			call.Locations[i] = clean(path)
		}
		r.add(d.Turn.Session, d.Turn, nil, correlation.ToolUsed{Turn: d.Number, Tool: call})
	}
	r.recordAnswer(d, private)
	return private
}

// recordRest records what belongs to no turn.
func (r *recorder) recordRest(due session.Due, private map[*session.Session][]string) {
	clean := func(t session.Told) string {
		if all, ok := private[t.Session]; ok {
			t.Private = all
		}
		return r.o.Private.Conceal(t.Project, privacy.Clean(privacy.WithoutEcho(t.Text, t.Blocks), t.Private))
	}
	for _, t := range due.Titles { // harnesses make them from first prompts
		title := chars.Cut(strings.Join(strings.Fields(clean(t)), " "), maxTitle)
		if title != "" && r.o.Delegation == "" { // a task is its own title
			r.add(t.Session, nil, nil, correlation.Titled{Session: t.Session.Number, Title: title})
		}
	}
	for _, t := range due.Summaries {
		r.add(t.Session, nil, nil, correlation.Summarised{Session: t.Session.Number, Text: clean(t)})
	}
	var closed bool
	var releases []func()
	r.talk.Tell(func(c *session.Connection) { closed, releases = c.RecordClosings() })
	for _, release := range releases {
		release()
	}
	if closed {
		r.database.deliverClosed()
	}
}

// add records events of a turn, or of none (nil), and more that is private. It returns all that is private in the
// session.
func (r *recorder) add(
	s *session.Session, t *session.Turn, private []string, events ...correlation.Event,
) (all []string) {
	if len(events) > 0 {
		r.talk.Tell(func(c *session.Connection) { all = c.Recorded(s, t, private, events...) })
	}
	return all
}

// recordAnswer records what the agent has said since the last time.
func (r *recorder) recordAnswer(d session.DueTurn, private []string) {
	t := d.Turn
	parts := t.Answer.Take()
	answer, going := r.answers[t]
	if len(parts) == 0 && !going || going && answer == nil {
		return
	}
	if !going {
		answer = &privacy.Stream{}
		r.answers[t] = answer
	}
	answer.Conceal(private, r.o.Private.Digests(d.Project))
	skipped, rest := 0, ""
	var events []correlation.Event
	for _, p := range parts {
		if p.Omitted > 0 { // in front of what the stream returns next
			events, rest = appendSaid(events, d.Number, rest+answer.Skip(), 0), ""
			skipped += p.Omitted
		}
		rest += answer.Write(strings.ToValidUTF8(p.Text, "\ufffd"))
	}
	guard.Point("recorder")
	if d.Ended {
		rest += answer.End()
	}
	events = appendSaid(events, d.Number, rest, skipped)
	r.waitForSpace(len(rest))
	r.add(t.Session, t, nil, events...)
}

// appendSaid appends an event with text of the agent, and how many bytes are missing in front of it.
func appendSaid(events []correlation.Event, turn int, words string, skipped int) []correlation.Event {
	if words == "" && skipped == 0 {
		return events
	}
	return append(events, correlation.AssistantSaid{Turn: turn, Text: words, Skipped: skipped})
}

// waitForSpace waits for the disk after each maxUnsaved bytes, because the log's queue drops what does not fit. A disk
// that hangs is waited for once a round.
func (r *recorder) waitForSpace(bytes int) {
	if r.unsaved += bytes; r.unsaved < maxUnsaved || r.diskHangs {
		return
	}
	r.unsaved = 0
	r.diskHangs = r.save() != nil
}

// save waits, for flushLimit at most, until all that was appended is written.
func (r *recorder) save() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	return r.file.Flush(ctx)
}
