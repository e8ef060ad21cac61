package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// A conversation is the state of the connection (package session) behind the relay's one lock. Whatever is seen, on the
// wire or beside it, comes in through see, which carries out what is to be done because of it.
type conversation struct {
	now    func() time.Time
	events Events
	// carry begins what is to be done beside the conversation. It waits for nothing.
	carry func(session.Do)
	// turnChanges is session.Connection.TurnChanges, to be read without the lock.
	turnChanges atomic.Uint64

	mu    sync.Mutex // guards what follows
	state *session.Connection
	news  chan struct{} // closed when there is some
}

func newConversation(o session.Options, now func() time.Time) *conversation {
	return &conversation{now: now, state: session.New(o), news: make(chan struct{})}
}

// see looks at what was seen, unless that is nil, and does what is to be done. What only the caller can do is in what
// it returns.
func (v *conversation) see(seen session.Seen) (do session.Do) {
	if seen != nil {
		do, _ = v.look(seen)
	}
	return do
}

// look is see; news is closed when there is something new to those who wait.
func (v *conversation) look(seen session.Seen) (do session.Do, news <-chan struct{}) {
	do, news = v.on(seen)
	v.carry(do)
	return do, news
}

// on has what was seen looked at, and does what has to be done before anything else is seen: events come into the file
// in the order in which things were seen.
func (v *conversation) on(seen session.Seen) (do session.Do, news <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do = v.state.On(v.now(), seen)
	v.turnChanges.Store(v.state.TurnChanges())
	if len(do.Record) > 0 {
		v.events.Append(do.Record...)
	}
	if len(do.Say) > 0 && !do.Turn.Answer.Said() {
		do.Turn.Answer.Add(do.Say)
	}
	if do.News {
		close(v.news)
		v.news = make(chan struct{})
	}
	return do, v.news
}

// await is see for what may have to wait for news (Do.Wait), until ctx ends. seen returns what to look at: waiting says
// that it has waited, and late that it waits no longer.
func (v *conversation) await(ctx context.Context, seen func(waiting, late bool) session.Seen) session.Do {
	do, news := v.look(seen(false, false))
	for do.Wait {
		select {
		case <-news:
			do, news = v.look(seen(true, false))
		case <-ctx.Done():
			return v.see(seen(true, true))
		}
	}
	return do
}

// about returns what is known of a session.
func (v *conversation) about(s *session.Session) session.Do {
	return v.see(session.SessionSought{Session: s})
}

// settled is about, once the ledger has said what it knows of the session, or ctx has ended.
func (v *conversation) settled(ctx context.Context, s *session.Session) session.Do {
	return v.await(ctx, func(_, late bool) session.Seen {
		return session.SessionSought{Session: s, Wait: true, Late: late}
	})
}

// verdict says to a pump what becomes of the frame that was seen.
func verdict(do session.Do) wire.Verdict {
	switch do.Frame {
	case session.Hold:
		return wire.Hold
	case session.Look:
		return wire.Tap
	}
	return wire.Pass
}
