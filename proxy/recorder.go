package proxy

import (
	"context"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const (
	// how soon words are written down while an answer streams: a kill costs no more of them
	recordEvery = 250 * time.Millisecond
	flushLimit  = 50 * time.Millisecond // for the disk, when the client has gone or much is to be written
	leastRest   = 20 * time.Millisecond // between two times: what comes meanwhile is written down together
	maxUnread   = 2 << 20               // bytes of prompts that nobody has read: there is no rest with more
	maxUnsaved  = 256 << 10             // bytes that are given to the file before it is waited for
)

// A recorder reads what was said, takes out what must not be kept, and writes the rest to the file of events: in one
// goroutine, beside the conversation, so that nobody waits for decoding or redaction. That a turn began, and that it
// ended, stands there already.
type recorder struct {
	*env
	events Events
	left   func() // told when it is written down that the client has closed sessions

	wake    chan struct{}      // something is to be written soon
	later   chan struct{}      // or within recordEvery
	crowded chan struct{}      // or at once, for it is much
	flushes chan chan struct{} // all of it, now
	stop    chan struct{}
	stopped chan struct{}

	// the goroutine's
	answers map[*session.Turn]*privacy.Stream // of turns that go on
	unsaved int                               // bytes since the file was waited for
	hangs   bool                              // it was waited for in vain
}

func newRecorder(e *env, events Events) *recorder {
	return &recorder{
		env: e, events: events,
		wake: make(chan struct{}, 1), later: make(chan struct{}, 1), crowded: make(chan struct{}, 1),
		flushes: make(chan chan struct{}), stop: make(chan struct{}), stopped: make(chan struct{}),
		answers: map[*session.Turn]*privacy.Stream{},
	}
}

// nudge asks for what there is to be written, soon or later. It never blocks.
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
		case <-r.crowded:
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
			r.record()
			close(done)
		case <-r.stop:
			r.record()
			for t := range r.answers { // of turns whose response never came
				r.write(t, r.answers[t].End(), 0)
			}
			return
		}
	}
}

// flush writes down all that was said so far.
func (r *recorder) flush() {
	done := make(chan struct{})
	select {
	case r.flushes <- done:
		<-done
	case <-r.stopped:
	}
	_ = r.save() // what the disk has not taken then it takes later, or says that it does not
}

// close writes down what is left and joins the goroutine.
func (r *recorder) close() {
	close(r.stop)
	<-r.stopped
}

// record writes down what is due.
func (r *recorder) record() {
	var due []session.Due
	var summaries []session.Summary
	r.table.Update(func(c *session.Connection) { due, summaries = c.TakeDue(), c.TakeSummaries() })
	r.hangs = false
	for _, d := range due {
		if d.Off {
			delete(r.answers, d.Turn)
			d.Turn.Answer.Take()
			continue
		}
		if d.Prompt != nil {
			r.heard(d.Turn, d.Prompt)
		}
		for _, p := range d.Steered {
			r.heard(d.Turn, p)
		}
		r.used(d)
		r.said(d)
	}
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
		r.left()
	}
}

// heard writes down what the user said: in a prompt, or in the middle of a turn.
func (r *recorder) heard(t *session.Turn, p session.Prompt) {
	words, private := p.Words()
	cut := p.Omitted() > 0
	words = privacy.Redact(words)
	r.waitForSpace(len(words))
	r.table.Update(func(c *session.Connection) {
		t.Session.AddPrivate(private...)
		c.RecordTurn(t, eventlog.UserSaid{Turn: t.Number, Text: words, Cut: cut})
	})
}

// used writes down the tools of a turn. Titles are commands and file names, and may repeat anything.
func (r *recorder) used(d session.Due) {
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

// said writes down what the agent said since it was last looked at.
func (r *recorder) said(d session.Due) {
	t := d.Turn
	parts := t.Answer.Take()
	answer, going := r.answers[t]
	if len(parts) == 0 && !going {
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
		skipped += r.take(answer, t, p)
	}
	rest := answer.Ready()
	if d.Ended {
		rest += answer.End()
		delete(r.answers, t)
	}
	r.write(t, rest, skipped)
}

// take gives a part of an answer to its stream, and how many bytes are missing in front of what the stream gives next.
func (r *recorder) take(to *privacy.Stream, t *session.Turn, p answer.Part) (skipped int) {
	if p.Omitted > 0 {
		r.write(t, to.Skip(""), 0)
		skipped = p.Omitted
	}
	to.Write(strings.ToValidUTF8(p.Text, "\ufffd"))
	return skipped
}

// write writes down the agent's next words, in front of which some are missing.
func (r *recorder) write(t *session.Turn, words string, skipped int) {
	if words == "" && skipped == 0 {
		return
	}
	r.waitForSpace(len(words))
	r.table.Update(func(c *session.Connection) {
		c.RecordTurn(t, eventlog.Said{Turn: t.Number, Text: words, Skipped: skipped})
	})
}

// waitForSpace waits, where much was given to the file, until it has that: more than it holds would be lost. A disk
// that hangs is waited for once.
func (r *recorder) waitForSpace(bytes int) {
	if r.unsaved += bytes; r.unsaved < maxUnsaved || r.hangs {
		return
	}
	r.unsaved = 0
	r.hangs = r.save() != nil
}

// save waits, briefly, until the file has what it was given.
func (r *recorder) save() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	return r.events.Flush(ctx)
}

// private gives what no words of a turn may repeat.
func (r *recorder) private(t *session.Turn) (private []string) {
	r.table.Update(func(*session.Connection) { private = t.Session.Private() })
	return private
}
