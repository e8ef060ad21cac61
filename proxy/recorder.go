package proxy

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const (
	// how often text is recorded while an answer streams: kill -9 costs no more of it
	recordEvery = 250 * time.Millisecond
	// how long the disk is waited for, and a response for the words of its turn to be on it
	flushLimit = 50 * time.Millisecond
	leastRest  = 20 * time.Millisecond // pause after recording, so that what comes meanwhile is recorded together
	maxUnread  = 192 << 10             // bytes of prompts that wait to be read; with more there is no pause
	maxUnsaved = 256 << 10             // bytes that are queued for the file before the disk is waited for
)

// A recorder decodes and redacts what was said and appends it to the file of events: in one goroutine, beside the
// conversation. Only the response that ends a turn waits for that work.
type recorder struct {
	*env
	events   Events
	onClosed func()   // called when the closing of sessions was recorded
	reading  sync.Map // *session.Turn → chan struct{}: prompts that have left and are being read

	wake    chan struct{}      // record after leastRest
	later   chan struct{}      // record within recordEvery
	full    chan struct{}      // record at once: more than maxUnread waits
	flushes chan chan struct{} // record at once, and close the channel
	stop    chan struct{}
	stopped chan struct{}

	// the goroutine's
	answers   map[*session.Turn]*privacy.Stream // of turns that have not ended; nil: the rest is not recorded
	unsaved   int                               // bytes since the disk was last waited for
	diskHangs bool                              // it was waited for in vain, in this round
}

func newRecorder(e *env, events Events) *recorder {
	return &recorder{
		env: e, events: events,
		wake: make(chan struct{}, 1), later: make(chan struct{}, 1), full: make(chan struct{}, 1),
		flushes: make(chan chan struct{}), stop: make(chan struct{}), stopped: make(chan struct{}),
		answers: map[*session.Turn]*privacy.Stream{},
	}
}

// nudge asks the recorder to record, soon or later. It never blocks.
func (r *recorder) nudge(soon bool) {
	if soon {
		wake(r.wake)
	} else {
		wake(r.later)
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run is the recorder's goroutine.
func (r *recorder) run() {
	defer close(r.stopped)
	var timer, rested <-chan time.Time
	wake := r.wake
	for {
		select {
		case <-wake:
			began := time.Now()
			r.record()
			wake, rested = nil, time.After(max(leastRest, pace.Rest(time.Since(began))))
		case <-r.full:
			r.record()
		case <-rested:
			wake, rested = r.wake, nil
		case <-r.later:
			if timer == nil {
				timer = time.After(recordEvery)
			}
		case <-timer:
			timer = nil
			r.record()
		case done := <-r.flushes:
			r.recordFor(done)
		case <-r.stop:
			r.record()
			for t, answer := range r.answers { // of turns whose response never came
				if answer != nil {
					guard.Run("recorder", func() { r.write(t, answer.End(), 0) })
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
	_ = r.save() // what is not on disk by then is written later, or reported by the file of events
}

// recordNow records all that was said so far, and waits until that is done or ctx ends.
func (r *recorder) recordNow(ctx context.Context) {
	done := make(chan struct{})
	select {
	case r.flushes <- done:
	case <-r.stopped:
		return
	case <-ctx.Done():
		return
	}
	await(ctx, done)
}

// begins notes that the prompt of a turn leaves, before it is read.
func (r *recorder) begins(t *session.Turn) { r.reading.Store(t, make(chan struct{})) }

// read notes that the prompt of a turn was read.
func (r *recorder) read(t *session.Turn) {
	if done, ok := r.reading.LoadAndDelete(t); ok {
		close(done.(chan struct{}))
	}
}

// end brings to the disk what a turn has said, prompt and answer, and behind it the event that it has ended. The
// response waits for that, flushLimit at most: a disk that hangs gets the words after the end, and the file of events
// says so.
func (r *recorder) end(t *session.Turn, ended eventlog.Event) {
	ctx, cancel := context.WithTimeout(r.ctx, flushLimit)
	defer cancel()
	if done, ok := r.reading.Load(t); ok {
		await(ctx, done.(chan struct{}))
	}
	r.recordNow(ctx)
	_ = r.events.AppendWait(ctx, ended)
}

// close records what is left and joins the goroutine.
func (r *recorder) close() {
	close(r.stop)
	<-r.stopped
}

// record records what is due.
func (r *recorder) record() {
	var due []session.Due
	var summaries []session.Summary
	r.table.Update(func(c *session.Connection) { due, summaries = c.TakeDue(), c.TakeSummaries() })
	r.diskHangs = false
	for _, d := range due {
		if d.Off {
			delete(r.answers, d.Turn)
			d.Turn.Answer.Take()
			continue
		}
		if !guard.Run("recorder", func() { r.recordTurn(d) }) {
			r.answers[d.Turn] = nil // what is private in the rest is not known any more
		}
		if d.Ended {
			delete(r.answers, d.Turn)
		}
	}
	guard.Run("recorder", func() { r.recordRest(summaries) })
}

// recordTurn records what is due of a turn.
func (r *recorder) recordTurn(d session.Due) {
	if d.Prompt != nil {
		r.recordPrompt(d.Turn, d.Prompt)
	}
	for _, p := range d.Steered {
		r.recordPrompt(d.Turn, p)
	}
	r.recordTools(d)
	r.recordAnswer(d)
}

// recordRest records what belongs to no turn.
func (r *recorder) recordRest(summaries []session.Summary) {
	writeTitles(r.table)
	for _, m := range summaries {
		text := privacy.Storable(m.Text, m.Blocks, m.Private, false)
		r.table.Update(func(c *session.Connection) { c.RecordSummary(m.Session, text) })
	}
	leaving, released := false, []func(){}
	r.table.Update(func(c *session.Connection) { leaving, released = c.RecordClosed(), c.TakeReleased() })
	for _, release := range released {
		release()
	}
	if leaving {
		r.onClosed()
	}
}

// recordPrompt records what the user said, in a prompt or in the middle of a turn.
func (r *recorder) recordPrompt(t *session.Turn, p session.Prompt) {
	words, private := p.Words()
	guard.Point("prompt's words")
	cut := p.Omitted() > 0
	p.Release()
	words = privacy.Redact(words)
	r.waitForSpace(len(words))
	r.table.Update(func(c *session.Connection) {
		t.Session.AddPrivate(private...)
		c.RecordTurn(t, eventlog.UserSaid{Turn: t.Number, Text: words, Cut: cut})
	})
}

// recordTools records tool calls of a turn. Their titles are commands and file names, which may repeat secrets.
func (r *recorder) recordTools(d session.Due) {
	if len(d.Tools) == 0 {
		return
	}
	private := r.private(d.Turn)
	clean := func(text string, most int) string { return chars.Cut(privacy.Clean(text, private, false), most) }
	for _, call := range d.Tools {
		call.Title = clean(call.Title, maxTitle)
		for i, path := range call.Locations {
			call.Locations[i] = clean(path, maxTitle)
		}
		r.table.Update(func(c *session.Connection) {
			c.RecordTurn(d.Turn, eventlog.ToolUsed{Turn: d.Turn.Number, Tool: call})
		})
	}
}

// recordAnswer records what the agent has said since the last time.
func (r *recorder) recordAnswer(d session.Due) {
	t := d.Turn
	parts := t.Answer.Take()
	answer, going := r.answers[t]
	if len(parts) == 0 && !going || going && answer == nil {
		return
	}
	private := r.private(t)
	if !going {
		answer = privacy.NewStream(d.Blocks, private)
		r.answers[t] = answer
	}
	answer.Conceal(private)
	skipped := 0
	for _, p := range parts {
		skipped += r.feed(answer, t, p)
	}
	guard.Point("recorder")
	rest := answer.Ready()
	if d.Ended {
		rest += answer.End()
	}
	r.write(t, rest, skipped)
}

// feed writes a part of an answer to its redacting stream. It returns how many bytes are missing in front of what the
// stream returns next.
func (r *recorder) feed(to *privacy.Stream, t *session.Turn, p answer.Part) (skipped int) {
	if p.Omitted > 0 {
		r.write(t, to.Skip(""), 0)
		skipped = p.Omitted
	}
	to.Write(strings.ToValidUTF8(p.Text, "\ufffd"))
	return skipped
}

// write records text of the agent, and how many bytes are missing in front of it.
func (r *recorder) write(t *session.Turn, words string, skipped int) {
	if words == "" && skipped == 0 {
		return
	}
	r.waitForSpace(len(words))
	r.table.Update(func(c *session.Connection) {
		c.RecordTurn(t, eventlog.Said{Turn: t.Number, Text: words, Skipped: skipped})
	})
}

// waitForSpace waits for the disk after each maxUnsaved bytes, because the file's queue drops what does not fit. A disk
// that hangs is waited for once a round.
func (r *recorder) waitForSpace(bytes int) {
	if r.unsaved += bytes; r.unsaved < maxUnsaved || r.diskHangs {
		return
	}
	r.unsaved = 0
	r.diskHangs = r.save() != nil
}

// save waits, for flushLimit at most, until all that was appended is in the file.
func (r *recorder) save() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	return r.events.Flush(ctx)
}

// private returns the passages that nothing recorded of a turn may repeat.
func (r *recorder) private(t *session.Turn) (private []string) {
	r.table.Update(func(*session.Connection) { private = t.Session.Private() })
	return private
}
