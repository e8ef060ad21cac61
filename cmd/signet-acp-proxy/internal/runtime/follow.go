package runtime

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A follower hears of the events that a process records, and tells the daemon what it needs to know of them, in a
// goroutine of its own: that a resumed session goes on, what a long session has said so far and, with presence, each
// prompt. No conversation waits for it: what does not fit its queue is dropped.
type follower struct {
	events   *eventlog.Log
	presence bool
	skills   string // the folder of Signet's skills
	log      zerolog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	tasks  guard.Group
	work   chan func(context.Context)
	ready  chan struct{} // closed once it is attached: what is queued waits for that

	mu        sync.Mutex // guards what follows
	daemon    *signet.Client
	deliver   func(ctx context.Context, key string) error // nil: it is not attached
	afterTurn []func(ctx context.Context)                 // called after each turn
	ended     int                                         // turns that have
	warnings  map[string][]string                         // by key, of sessions that are not known yet
	sessions  map[int]*followedSession
	turns     map[int]*followedTurn // those under way
}

// A followedSession is what the follower knows of a session.
type followedSession struct {
	number int
	who    memory.Session
	turns  int // turns that have ended since the last delivery
	since  time.Time
}

// A followedTurn is what the follower knows of a turn.
type followedTurn struct {
	session *followedSession
	quiet   bool // its user text has come, or is a slash command
	said    strings.Builder
}

const (
	followQueue = 64      // calls that wait; more are dropped
	lastSize    = 2 << 10 // bytes that are kept of the assistant's last message
)

// gcPercent keeps a relay small that runs beside an agent all day, and has little garbage. It is set after the second
// turn: collecting would be a sixth of all that a process of one prompt does.
const gcPercent = 50

func newFollower(log *eventlog.Log, presence bool, skills string, l zerolog.Logger) *follower {
	f := &follower{
		events: log, presence: presence, skills: skills, log: l, work: make(chan func(context.Context), followQueue),
		ready:    make(chan struct{}),
		warnings: map[string][]string{}, sessions: map[int]*followedSession{}, turns: map[int]*followedTurn{},
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.tasks.Go("presence", func() {
		select {
		case <-f.ready:
		case <-f.ctx.Done():
		}
		for f.ctx.Err() == nil {
			select {
			case do := <-f.work:
				guard.Run("presence", func() { do(f.ctx) })
			case <-f.ctx.Done():
			}
		}
	})
	return f
}

// attach sets the daemon to tell, and the function that delivers what a session has said so far. What was to be told
// before is told now: the first prompt of a resumed session comes while the database is still being opened.
func (f *follower) attach(daemon *signet.Client, deliver func(ctx context.Context, key string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.daemon, f.deliver = daemon, deliver
	close(f.ready)
}

// onTurn adds what else is done after each turn.
func (f *follower) onTurn(do func(ctx context.Context)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.afterTurn = append(f.afterTurn, do)
}

// close ends the goroutine.
func (f *follower) close() {
	f.cancel()
	f.tasks.Wait()
}

// starting records a hook by which the daemon takes a session to be live, before it is sent: the key must be freed some
// day, also if we are killed before the harness has named its session.
func (f *follower) starting(ctx context.Context, s memory.Session) {
	if err := f.events.AppendWait(ctx, correlation.KeyStarted{Key: s.Key, AgentID: s.AgentID}); err != nil {
		f.log.Warn().Err(err).Str("key", s.Key).Msg("noting a session-start")
	}
}

// warned records the daemon's warnings for people about a key's session.
func (f *follower) warned(key string, lines []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warnings[key] = append(f.warnings[key], lines...)
	for _, s := range f.sessions {
		if s.who.Key == key {
			f.keyLocked(s, key)
			return
		}
	}
}

// note notes events. The relay waits for it, so it makes no call.
func (f *follower) note(events ...correlation.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case correlation.Opened:
			s := f.sessionLocked(e.Session)
			s.who = memory.Session{Key: s.who.Key, Harness: e.Open.Harness, Cwd: e.Open.Cwd, Project: e.Open.Project,
				AgentID: e.Open.AgentID}
			f.keyLocked(s, e.Open.Key)
		case correlation.Rekeyed:
			f.keyLocked(f.sessionLocked(e.Session), e.Spent)
			f.keyLocked(f.sessionLocked(e.Session), e.Key)
		case correlation.TurnBegan:
			s := f.sessionLocked(e.Session)
			f.keyLocked(s, e.Key)
			f.turns[e.Turn] = &followedTurn{session: s, quiet: e.Command != ""}
			f.commandLocked(s, strings.TrimPrefix(e.Command, "/"))
		case correlation.UserSaid:
			f.promptLocked(f.turns[e.Turn], e.Text)
		case correlation.AssistantSaid:
			if t := f.turns[e.Turn]; t != nil && f.presence && t.said.Len() < lastSize {
				t.said.WriteString(chars.Cut(e.Text, lastSize))
			}
		case correlation.Injected:
			if items := e.Injection.Items; slices.ContainsFunc(items, signet.IsMessage) {
				f.tellLocked(f.sessionLocked(e.Session), "messages that were given",
					func(ctx context.Context, d *signet.Client, who memory.Session) error {
						return d.Acknowledge(ctx, who, items)
					})
			}
		case correlation.Compacting:
			f.tellLocked(f.sessionLocked(e.Session), "a compaction",
				func(ctx context.Context, d *signet.Client, who memory.Session) error { return d.Compacting(ctx, who) })
		case correlation.Closed:
			f.closedLocked(e.Session)
		case correlation.TurnEnded:
			t := f.turns[e.Turn]
			delete(f.turns, e.Turn)
			f.endedLocked(t)
		}
	}
}

func (f *follower) sessionLocked(n int) *followedSession {
	if f.sessions[n] == nil {
		f.sessions[n] = &followedSession{number: n, since: time.Now()}
	}
	return f.sessions[n]
}

// closedLocked drops a session that the client has closed. If it comes back, the daemon is told as by a new process.
func (f *follower) closedLocked(n int) {
	s := f.sessions[n]
	if s == nil {
		return
	}
	delete(f.sessions, n)
	for turn, of := range f.turns {
		if of.session == s {
			delete(f.turns, turn)
		}
	}
	if f.daemon != nil {
		f.daemon.Drop(s.who.Key)
	}
}

// keyLocked sets a session's key.
func (f *follower) keyLocked(s *followedSession, key string) {
	if key == "" {
		return
	}
	s.who.Key = key
	for _, line := range f.warnings[key] {
		f.events.Append(correlation.Warned{Session: s.number, Text: line})
	}
	delete(f.warnings, key)
}

// tellLocked queues a call to the daemon about a session.
func (f *follower) tellLocked(s *followedSession, what string,
	tell func(context.Context, *signet.Client, memory.Session) error) {
	who, needless := s.who, f.deliver != nil && f.daemon == nil
	if needless || who.Key == "" {
		return
	}
	f.doLocked(func(ctx context.Context) {
		if f.daemon == nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, signet.FollowTimeout)
		defer cancel()
		if err := tell(ctx, f.daemon, who); err != nil && ctx.Err() == nil {
			f.log.Debug().Err(err).Str("key", who.Key).Str("what", what).Msg("telling the daemon")
		}
	})
}

// promptLocked tells the daemon of a prompt, once for each turn; nil for one that is not known.
func (f *follower) promptLocked(t *followedTurn, text string) {
	if t == nil || t.quiet {
		return
	}
	t.quiet = true
	s, last := t.session, ""
	if f.daemon != nil {
		last = f.daemon.TakeAnswer(s.who.Key)
	}
	f.tellLocked(s, "a prompt", func(ctx context.Context, d *signet.Client, who memory.Session) error {
		return d.Follow(ctx, signet.Prompt{Session: who, Text: text, Last: last,
			Starting: func(ctx context.Context) { f.starting(ctx, who) }}, f.presence)
	})
}

// commandLocked tells the daemon of a slash command that names one of Signet's skills, a folder each.
func (f *follower) commandLocked(s *followedSession, name string) {
	if name == "" || name != filepath.Base(name) {
		return
	}
	if _, err := os.Stat(filepath.Join(f.skills, name, "SKILL.md")); err != nil {
		return
	}
	f.tellLocked(s, "a skill", func(ctx context.Context, d *signet.Client, who memory.Session) error {
		return d.Skill(ctx, who, name)
	})
}

// endedLocked counts a turn, and delivers what a long session has said.
func (f *follower) endedLocked(t *followedTurn) {
	if t == nil {
		return
	}
	s := t.session
	if f.daemon != nil && f.presence {
		f.daemon.Answered(s.who.Key, t.said.String())
	}
	s.turns++
	if f.ended++; f.ended == 2 {
		f.doLocked(func(context.Context) { debug.SetGCPercent(gcPercent) })
	}
	for _, do := range f.afterTurn {
		f.doLocked(do)
	}
	if f.deliver == nil || !correlation.DueSoFar(s.turns, time.Since(s.since)) {
		return
	}
	s.turns, s.since = 0, time.Now()
	key, deliver := s.who.Key, f.deliver
	f.doLocked(func(ctx context.Context) {
		if err := deliver(ctx, key); err != nil && ctx.Err() == nil {
			f.log.Warn().Err(err).Str("key", key).Msg("handing over what a session has said so far")
		}
	})
}

func (f *follower) doLocked(do func(context.Context)) {
	select {
	case f.work <- do:
	default:
		f.log.Info().Msg("too much to tell the daemon at once")
	}
}
