package runtime

import (
	"context"
	"slices"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A messageSource is a source that adds what other agents have left for a session. A delegation's child is told none of
// it: it is for a session of the user's.
type messageSource struct {
	memory.Source
	daemon *signet.Client // nil where none is used
	ledger *delegation.Ledger
	store  *correlation.Store
	name   string // what the harness was started as
	child  bool
	log    *logFile

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
		p.log.Warn().Err(err).Msg("looking for messages of other agents")
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
		if told, err = p.store.Book().Told(ctx, ids); err != nil {
			p.log.Warn().Err(err).Msg("looking for messages that were told")
		}
	}
	c.Items = slices.DeleteFunc(c.Items, func(it memory.Item) bool { return slices.Contains(told, it.ID) })
}

// refresh reads the messages for sessions that this process may continue.
func (p *messageSource) refresh(ctx context.Context) {
	waiting, err := p.ledger.Waiting(ctx)
	if err != nil {
		p.log.repeated(ctx, "looking for messages that wait", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = map[string][]memory.Item{}
	for key, messages := range waiting {
		p.waiting[key] = items(messages)
	}
}

// messages returns what other agents have sent to a key's session, and the results of its delegations. It waits for
// nothing.
func (p *messageSource) messages(key string) []memory.Item {
	if p.child {
		return nil
	}
	var daemons []memory.Item
	if p.daemon != nil {
		daemons = p.daemon.Messages(key)
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
