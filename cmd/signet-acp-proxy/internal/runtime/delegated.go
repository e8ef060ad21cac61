package runtime

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A delegationResult is the outcome of a delegation, and where it is stored.
type delegationResult struct {
	c   *config.Config
	db  *sql.DB
	log *Log
	d   delegation.Delegation
	o   delegation.Outcome
}

// daemonTime is how long the daemon may take for a result: the caller waits for it.
const daemonTime = 2 * time.Second

// store stores the result as a memory of the caller's side, and sends it to the caller's session if that does not wait.
// The child's side has its own conversation.
func (r delegationResult) store(ctx context.Context) {
	log := r.log.Logger()
	var daemon *signet.Client
	if r.c.Memory == "auto" || r.c.Memory == "daemon" {
		var err error
		if daemon, err = NewDaemon(r.c, config.Token(), log); err != nil {
			log.Warn().Err(err).Str("delegation", r.d.ID).Msg("telling the daemon of a result")
		} else {
			defer daemon.Close()
		}
	}
	at, cancel := context.WithTimeout(ctx, daemonTime)
	defer cancel()
	if r.d.Detach && r.d.Key != "" && r.d.Parent == "" {
		if err := r.sendToCaller(ctx, at, daemon); err != nil {
			log.Warn().Err(err).Str("delegation", r.d.ID).Msg("leaving a result")
		}
	}
	if err := r.remember(ctx, at, daemon); err != nil {
		log.Warn().Err(err).Str("delegation", r.d.ID).Msg("remembering a result")
	}
}

// sendToCaller sends the result to the session that asked: for its next prompt and, with a daemon, to its inbox, under
// one id, so that it is told once.
func (r delegationResult) sendToCaller(ctx, at context.Context, daemon *signet.Client) error {
	text := fmt.Sprintf("Delegation %s is %s. %s\n%s", r.d.ID, r.o.State, r.o.Reason, chars.Cut(r.o.Answer, 2<<10))
	m := delegation.Message{To: r.d.Harness, From: r.d.Agent, Session: r.d.Key, Recipient: r.d.Key,
		Project: r.d.Project, Text: text, Delegation: r.d.ID}
	if daemon != nil {
		m.ID, _ = daemon.Send(at, m.From, m.Recipient, m.Text) // without it ours is told
	}
	_, err := delegation.NewLedger(r.db, r.c.LiveDir()).Send(ctx, m)
	return err
}

func (r delegationResult) remember(ctx, at context.Context, daemon *signet.Client) error {
	if r.o.State != delegation.Done || r.o.Answer == "" {
		return nil
	}
	text := fmt.Sprintf("%s was asked (%s, delegation %s): %s\nIt answered: %s", r.d.Agent, r.d.Mode, r.d.ID,
		chars.Cut(r.d.Task, 400), chars.Cut(r.o.Answer, 1200))
	if r.o.Branch != "" {
		text += fmt.Sprintf("\nIts changes are on the branch %s: %s", r.o.Branch,
			chars.Cut(strings.Join(r.o.Paths, ", "), 400))
	}
	tags := "delegation," + r.d.Agent
	stored, _, err := NewStore(r.c, r.db, r.log).Add(ctx, embedded.Memory{Content: text, Type: "delegation",
		Project: r.d.Project, Origin: "assistant", Harness: r.d.Harness, Session: r.d.Key, Turn: r.d.Turn,
		Source: "delegation", Tags: tags})
	if err == nil && daemon != nil {
		_, _ = daemon.Remember(at, signet.Note{Content: stored.Content, Tags: tags}) // the embedded store has it anyway
	}
	return err
}

// A messageSource is a source that adds what other agents have left for a session. A delegation's child is told none of
// it: it is for a session of the user's.
type messageSource struct {
	memory.Source
	ledger *delegation.Ledger
	store  *correlation.Store
	name   string // what the harness was started as
	child  bool
	log    *Log

	mu      sync.Mutex // guards waiting
	waiting map[string][]memory.Item
}

// Start returns a session's context with its messages before its memories.
func (p *messageSource) Start(ctx context.Context, who memory.Session) (memory.Context, error) {
	c, err := p.Source.Start(ctx, who)
	if err != nil {
		return c, err
	}
	if p.dropTold(ctx, &c); p.child {
		return c, nil
	}
	messages, err := p.ledger.Inbox(ctx, namesOf(who.Harness, p.name), who.Project)
	if err != nil {
		p.log.warn(err).Msg("looking for messages of other agents")
	}
	c.Items = messagesFirst(items(messages), c.Items)
	return c, nil
}

// Recall leaves out the messages that were told, too, and results that a message tells.
func (p *messageSource) Recall(ctx context.Context, who memory.Session, prompt string, seen []string) (memory.Context,
	error) {
	c, err := p.Source.Recall(ctx, who, prompt, seen)
	p.dropTold(ctx, &c)
	c.Items = slices.DeleteFunc(c.Items, func(it memory.Item) bool {
		result := resultOf().FindStringSubmatch(it.Text)
		if result == nil {
			return false
		}
		twice, err := p.ledger.ByMessage(ctx, result[1], seen)
		return err == nil && twice
	})
	return c, err
}

// resultOf finds the delegation whose result a memory is, as remember words it.
var resultOf = pattern.New(`^\S+ was asked \(\w+, delegation (\w{26})\): `)

// dropTold drops the messages that another session was told: an older daemon takes no acknowledgement and gives them to
// each. For a child it drops all.
func (p *messageSource) dropTold(ctx context.Context, c *memory.Context) {
	var ids []string
	for _, it := range c.Items {
		if signet.IsMessage(it.ID) {
			ids = append(ids, it.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	told := ids
	if !p.child {
		var err error
		if told, err = p.store.Told(ctx, ids); err != nil {
			p.log.warn(err).Msg("looking for messages that were told")
		}
	}
	c.Items = slices.DeleteFunc(c.Items, func(it memory.Item) bool { return slices.Contains(told, it.ID) })
}

// refresh reads the messages for sessions that this process may continue.
func (p *messageSource) refresh(ctx context.Context) {
	waiting, err := p.ledger.Waiting(ctx)
	if err != nil {
		if ctx.Err() == nil {
			p.log.warn(err).Msg("looking for messages that wait")
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = map[string][]memory.Item{}
	for key, messages := range waiting {
		p.waiting[key] = items(messages)
	}
}

// messagesFor returns the messages for a key's session, with those that a daemon has for it. It waits for nothing.
func (p *messageSource) messagesFor(key string, daemons []memory.Item) []memory.Item {
	if p.child {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return messagesFirst(p.waiting[key], daemons)
}

// messagesFirst puts messages before items; a daemon's items may include them.
func messagesFirst(messages, all []memory.Item) []memory.Item {
	messages = slices.DeleteFunc(slices.Clone(messages), func(m memory.Item) bool {
		return slices.ContainsFunc(all, func(it memory.Item) bool { return it.ID == m.ID })
	})
	return append(messages, all...)
}

func items(messages []delegation.Message) []memory.Item {
	all := make([]memory.Item, len(messages))
	for i, m := range messages {
		all[i] = m.Item()
	}
	return all
}
