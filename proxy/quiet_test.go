package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

const sampleBlock = "<signet-memory source=\"acp-proxy\" id=\"3f9c0a71d2be\">\nAdded by signet-acp-proxy from the " +
	"user's own memory; not part of the user's message.\n\nYou are Alto.\n</signet-memory>\n\n"

// A quiet relay runs nothing: a test hands its ends frames, and sees what leaves and what is recorded. Its session s1
// was given sampleBlock by another process, and is loaded.
type quiet struct {
	*Relay
	harness, client, told output // what each was sent, and people were told
	events                noted
	one                   *session.Session // s1
	inPieces              int              // the most bytes that the client's frames come in; 0: all at once
}

// output keeps what is written to it.
type output struct{ bytes.Buffer }

func (*output) Close() error { return nil }

// take returns what was written since the last time.
func (o *output) take() string {
	defer o.Reset()
	return o.String()
}

// noted is a file of events that is kept here, and never folded in.
type noted struct {
	Events
	mu  sync.Mutex
	all []correlation.Event
}

func (n *noted) Append(events ...correlation.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, events...)
}

// take returns the events since the last time.
func (n *noted) take() []correlation.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.all
	n.all = nil
	return all
}

func (n *noted) AppendWait(_ context.Context, e correlation.Event) error {
	n.Append(e)
	return nil
}

func (*noted) Flush(context.Context) error { return nil }

func (*noted) Folded(context.Context) error { return nil }

func (*noted) Row(context.Context, int) (int64, error) { return 1, nil }

func (*noted) Process() string { return "p" }

// shelf is a ledger that has one session that this connection does not open, s0, and grants every claim.
type shelf struct {
	Ledger
	stored []byte      // a context of s0, which is armed then
	titled chan string // of which blocks SetTitle has noted titles
}

func (l *shelf) Find(_ context.Context, _, id string) (correlation.Session, error) {
	switch {
	case id != "s0":
		return correlation.Session{}, correlation.ErrNotFound
	case l.stored != nil:
		return correlation.Session{ID: 7, State: correlation.Armed, Key: "acp-0", Cwd: "/tmp/x"}, nil
	}
	return correlation.Session{ID: 7, State: correlation.Done, Key: "acp-0", Cwd: "/tmp/x"}, nil
}

func (*shelf) Injections(context.Context, int64) ([]correlation.Injection, error) {
	return []correlation.Injection{{Session: 7, Kind: session.KindContext, Text: sampleBlock}}, nil
}

func (l *shelf) TakeContext(context.Context, int64, time.Duration) ([]byte, string, error) {
	if l.stored == nil {
		return nil, "", correlation.ErrNotFound
	}
	return l.stored, "acp-1", nil
}

func (*shelf) FirstPrompt(context.Context, int64) (string, error) {
	return "  what the user asked first, in so many words that a title of eighty characters cannot hold them all", nil
}

func (*shelf) BlockOwner(context.Context, string, string) (correlation.Session, error) {
	return correlation.Session{}, correlation.ErrNotFound
}

func (l *shelf) SetTitle(_ context.Context, _ int64, block, _ string) error {
	l.titled <- block
	return nil
}

func (*shelf) Claim(context.Context, int64, []correlation.State, string, correlation.Injection) (int64, error) {
	return 1, nil
}

// given is a ledger that has one session, which was given a block.
type given struct {
	Ledger
	block correlation.Injection
}

func (given) Find(context.Context, string, string) (correlation.Session, error) {
	return correlation.Session{ID: 1, State: correlation.Done}, nil
}

func (l given) Injections(context.Context, int64) ([]correlation.Injection, error) {
	return []correlation.Injection{l.block}, nil
}

// remembering gives a quiet relay a memory and a shelf.
func remembering(mem Memory) func(*Options) {
	return func(o *Options) {
		if mem != nil {
			o.Identity = mem.Identity
		}
		o.Open = func(context.Context) (*Backend, error) {
			return &Backend{Ledger: &shelf{titled: make(chan string, 1)}, Memory: mem}, nil
		}
	}
}

// holding has later prompts held, as for messages of other agents.
func holding(o *Options) {
	o.Open = func(context.Context) (*Backend, error) {
		return &Backend{Messages: func(string) []memory.Item { return []memory.Item{{ID: "message:1"}} }}, nil
	}
}

func newQuiet(t testing.TB, change ...func(*Options)) *quiet {
	q := &quiet{}
	still := time.Now().Add(time.Hour) // no limit passes
	o := Options{
		Client: Client{Out: &q.client, Stderr: &q.told}, Harness: Harness{In: &q.harness},
		HoldLimit: 2 * patience, Now: func() time.Time { return still },
	}
	for _, f := range change {
		f(&o)
	}
	q.Relay = New(o)
	t.Cleanup(q.talk.End)
	t.Cleanup(q.tasks.end)
	t.Cleanup(q.cancel)
	close(q.database.opened)
	close(q.recorder.stopped) // it never ran
	q.file = &q.events
	q.agent.Store(&agentHello{version: version1, traits: q.o.Traits("")})
	block := correlation.Injection{Session: 1, Kind: session.KindContext, Text: sampleBlock, BlockID: "b1",
		Title: correlation.TitleHash("Clerk of a yard")}
	q.database.backend.Store(&Backend{Ledger: given{block: block}})
	q.talk.Do(func(c *session.Connection) {
		q.one = c.OpeningAsked("load", "session/load", session.Opening{Kind: session.OpensKnown, Target: "s1"})
	})
	q.settled(q.one, patience)
	q.database.backend.Store(nil)
	if o.Open != nil {
		backend, _ := o.Open(t.Context())
		q.database.backend.Store(backend)
	}
	return q
}

// opened has the harness answer the load of s1.
func (q *quiet) opened() *quiet {
	q.talk.Do(func(c *session.Connection) {
		request, _ := c.Answered("load")
		c.OpeningAnswered(request, session.OpeningAnswer{ID: "s1", Editing: true})
	})
	q.events.take()
	return q
}

// settle waits until the ledger has answered about a session.
func (q *quiet) settle(t testing.TB, id string) {
	t.Helper()
	q.settled(q.session(id), patience)
}

// session returns a session of the connection; nil: it has none with this id.
func (q *quiet) session(id string) (s *session.Session) {
	q.talk.Do(func(c *session.Connection) { s = c.Given(id).Session })
	return s
}

// sends has the client send frames, and returns what of them reaches the harness.
func (q *quiet) sends(t testing.TB, frames ...string) string {
	t.Helper()
	var in io.Reader = strings.NewReader(strings.Join(frames, "\n") + "\n")
	if q.inPieces > 0 {
		in = chunky{in, q.inPieces}
	}
	if err := wire.Pump(in, q.up); err != nil {
		t.Fatal(err)
	}
	q.up.queue.Join()
	return strings.TrimSuffix(q.harness.take(), "\n")
}

// says has the harness say frames, and returns what of them reaches the client.
func (q *quiet) says(t testing.TB, frames ...string) string {
	t.Helper()
	if err := wire.Pump(strings.NewReader(strings.Join(frames, "\n")+"\n"), q.down); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(q.client.take(), "\n")
}

// chunky gives what it reads in pieces of up to so many bytes.
type chunky struct {
	io.Reader
	most int
}

func (c chunky) Read(b []byte) (int, error) { return c.Reader.Read(b[:min(len(b), c.most)]) }

// turn is a turn of s1: a prompt of these blocks, and what the harness says up to its response, of whose result more is
// a part. It returns what is recorded.
func (q *quiet) turn(t testing.TB, blocks, more string, updates ...string) []string {
	t.Helper()
	q.sends(t, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[`+blocks+`]}}`)
	for _, u := range updates {
		if !strings.HasPrefix(u, `{"jsonrpc"`) {
			u = update("s1", u)
		}
		q.says(t, u)
	}
	q.says(t, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"`+more+`}}`)
	return q.recorded()
}

// recorded has what is due recorded, and returns what it says: each user's words, tools and so on, and all words of the
// agent.
func (q *quiet) recorded() (recorded []string) {
	q.recorder.record()
	answer := ""
	for _, e := range q.events.take() {
		switch e := e.(type) {
		case correlation.UserSaid:
			if e.Cut {
				recorded = append(recorded, "cut")
			}
			recorded = append(recorded, "user: "+e.Text)
		case correlation.AssistantSaid:
			answer += e.Text
		case correlation.ToolUsed:
			line := fmt.Sprintln("tool:", e.Tool.Title, e.Tool.Kind, e.Tool.Status, strings.Join(e.Tool.Locations, " "))
			if more := append([]string{e.Tool.Command}, e.Tool.Steps...); strings.Join(more, "") != "" {
				line += fmt.Sprintf("%q", more)
			}
			if e.Tool.Exit != nil {
				line += fmt.Sprint(" exit ", *e.Tool.Exit)
			}
			recorded = append(recorded, strings.TrimSpace(line))
		case correlation.Titled:
			recorded = append(recorded, "title: "+e.Title)
		case correlation.Summarised:
			recorded = append(recorded, "summary: "+e.Text)
		case correlation.UsageReported:
			if e.Usage.Input == nil {
				recorded = append(recorded, fmt.Sprintf("usage: %s of %d", e.Usage.Reporter, *e.Usage.ContextUsed))
				continue
			}
			recorded = append(recorded, fmt.Sprintf("usage: %s %d", e.Usage.Reporter, *e.Usage.Input))
		case correlation.Compacting:
			recorded = append(recorded, "compacting")
		case correlation.Stepped:
			recorded = append(recorded, string(e.Step.Name))
		}
	}
	if answer != "" {
		recorded = append(recorded, "agent: "+answer)
	}
	return recorded
}
