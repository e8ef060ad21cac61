package runtime

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A follower reads what a process writes down of its conversations, and does what the daemon is to hear of them
// beside: a resumed one goes on, a long one hands over what it has, and with presence each prompt is told of. It
// makes no conversation wait: what it cannot take it leaves.
type follower struct {
	*eventlog.Log // what is appended to it goes on to the file

	presence bool
	log      zerolog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	work   chan func(context.Context)

	mu        sync.Mutex // guards what follows
	daemon    *signet.Client
	handOver  func(ctx context.Context, key string) error
	turned    func(ctx context.Context) // is done after each turn
	warnings  map[string][]string       // what the daemon said with a key whose session has no name yet
	sessions  map[int]*followed
	turns     map[int]*followed // those that are open
	prompting map[int]bool      // whose user text is to come
}

// A followed is a session.
type followed struct {
	number  int
	who     memory.Session
	last    string // what the assistant said last
	said    strings.Builder
	turns   int // that ended and were not handed over
	since   time.Time
	command bool // the turn at hand is a slash command
}

const (
	followQueue  = 64      // things to do; more are left
	lastSize     = 2 << 10 // bytes of the assistant's last message
	turnsAtOnce  = 20      // that a session hands over before its end,
	handOverTime = time.Hour
)

func newFollower(log *eventlog.Log, presence bool, l zerolog.Logger) *follower {
	f := &follower{
		Log: log, presence: presence, log: l, work: make(chan func(context.Context), followQueue),
		warnings: map[string][]string{}, sessions: map[int]*followed{}, turns: map[int]*followed{},
		prompting: map[int]bool{},
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.tasks.Go(func() {
		for {
			select {
			case do := <-f.work:
				do(f.ctx)
			case <-f.ctx.Done():
				return
			}
		}
	})
	return f
}

// attach gives the daemon to tell, and the way to hand over what a session has said.
func (f *follower) attach(daemon *signet.Client, handOver func(ctx context.Context, key string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.daemon, f.handOver = daemon, handOver
}

// onTurn gives what else is to be done after each turn.
func (f *follower) onTurn(do func(ctx context.Context)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turned = do
}

// close ends what is done beside.
func (f *follower) close() {
	f.cancel()
	f.tasks.Wait()
}

// Append implements proxy.Events.
func (f *follower) Append(events ...eventlog.Event) {
	f.Log.Append(events...)
	for _, e := range events {
		f.hear(e)
	}
}

// AppendWait implements proxy.Events.
func (f *follower) AppendWait(ctx context.Context, e eventlog.Event) error {
	err := f.Log.AppendWait(ctx, e)
	f.hear(e)
	return err
}

// starting notes a session-start before it is sent: an unused key is to be ended some day, also where we are killed
// before the harness has named its session.
func (f *follower) starting(ctx context.Context, s memory.Session) {
	if err := f.Log.AppendWait(ctx, eventlog.KeyStarted{Key: s.Key, AgentID: s.AgentID}); err != nil {
		f.log.Warn().Err(err).Str("key", s.Key).Msg("noting a session-start")
	}
}

// warned notes what the daemon says to people about a key's session.
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

// hear takes in an event. The relay waits for it, so it only notes.
func (f *follower) hear(e eventlog.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := e.(type) {
	case eventlog.Opened:
		s := f.sessionLocked(e.Session)
		s.who = memory.Session{Key: s.who.Key, Harness: e.Open.Harness, Cwd: e.Open.Cwd, Project: e.Open.Project,
			AgentID: e.Open.AgentID}
		f.keyLocked(s, e.Open.Key)
	case eventlog.Rekeyed:
		f.keyLocked(f.sessionLocked(e.Session), e.Spent)
		f.keyLocked(f.sessionLocked(e.Session), e.Key)
	case eventlog.TurnBegan:
		s := f.sessionLocked(e.Session)
		f.keyLocked(s, e.Key)
		s.command = e.Command != ""
		f.turns[e.Turn], f.prompting[e.Turn] = s, true
		s.said.Reset()
	case eventlog.UserSaid:
		if s := f.turns[e.Turn]; s != nil && f.prompting[e.Turn] && !s.command {
			delete(f.prompting, e.Turn)
			f.promptLocked(s, e.Text)
		}
	case eventlog.Said:
		if s := f.turns[e.Turn]; s != nil && f.presence && s.said.Len() < lastSize {
			s.said.WriteString(chars.Cut(e.Text, lastSize))
		}
	case eventlog.Injected:
		f.gaveLocked(f.sessionLocked(e.Session), e.Injection.Items)
	case eventlog.Compacting:
		f.tellLocked(f.sessionLocked(e.Session), "a compaction", func(ctx context.Context, d *signet.Client,
			who memory.Session) error {
			return d.Compacting(ctx, who)
		})
	case eventlog.Left:
		f.leftLocked(e.Session)
	case eventlog.TurnEnded:
		if s := f.turns[e.Turn]; s != nil {
			delete(f.turns, e.Turn)
			delete(f.prompting, e.Turn)
			s.last = s.said.String()
			f.endedLocked(s)
		}
	}
}

func (f *follower) sessionLocked(n int) *followed {
	if f.sessions[n] == nil {
		f.sessions[n] = &followed{number: n, since: time.Now()}
	}
	return f.sessions[n]
}

// leftLocked lets go of a session that the client has closed. Should it come back, it is told of as in a new process.
func (f *follower) leftLocked(n int) {
	s := f.sessions[n]
	if s == nil {
		return
	}
	delete(f.sessions, n)
	for turn, of := range f.turns {
		if of == s {
			delete(f.turns, turn)
			delete(f.prompting, turn)
		}
	}
	if f.daemon != nil {
		f.daemon.Left(s.who.Key)
	}
}

// keyLocked notes a session's key, which the file knows from now on.
func (f *follower) keyLocked(s *followed, key string) {
	if key == "" {
		return
	}
	s.who.Key = key
	for _, line := range f.warnings[key] {
		f.Log.Append(eventlog.Warned{Session: s.number, Text: line})
	}
	delete(f.warnings, key)
}

// tellLocked tells the daemon something of a session.
func (f *follower) tellLocked(s *followed, what string,
	tell func(context.Context, *signet.Client, memory.Session) error) {
	daemon, who := f.daemon, s.who
	if daemon == nil || who.Key == "" {
		return
	}
	f.doLocked(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, signet.FollowTimeout)
		defer cancel()
		if err := tell(ctx, daemon, who); err != nil && ctx.Err() == nil {
			f.log.Debug().Err(err).Str("key", who.Key).Str("what", what).Msg("telling the daemon")
		}
	})
}

// promptLocked tells the daemon of a prompt.
func (f *follower) promptLocked(s *followed, text string) {
	last := s.last
	f.tellLocked(s, "a prompt", func(ctx context.Context, d *signet.Client, who memory.Session) error {
		return d.Follow(ctx, signet.Prompt{Session: who, Text: text, Last: last}, f.presence)
	})
}

// gaveLocked tells the daemon of messages of other agents that a session was given.
func (f *follower) gaveLocked(s *followed, items []string) {
	if slices.ContainsFunc(items, signet.IsMessage) {
		f.tellLocked(s, "messages that were given",
			func(ctx context.Context, d *signet.Client, who memory.Session) error {
				return d.Acknowledge(ctx, who, items)
			})
	}
}

// endedLocked counts a turn, and hands over what a long session has.
func (f *follower) endedLocked(s *followed) {
	s.turns++
	if f.turned != nil {
		f.doLocked(f.turned)
	}
	if f.handOver == nil || s.turns < turnsAtOnce && time.Since(s.since) < handOverTime {
		return
	}
	s.turns, s.since = 0, time.Now()
	key, daemon, handOver := s.who.Key, f.daemon, f.handOver
	f.doLocked(func(ctx context.Context) {
		if err := handOver(ctx, key); err != nil {
			if ctx.Err() == nil {
				f.log.Warn().Err(err).Str("key", key).Msg("handing over what a session has said so far")
			}
			return
		}
		if daemon != nil {
			daemon.Resumed(key)
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
