package signet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// Recall asks what the daemon knows of a prompt (POST
// /api/hooks/user-prompt-submit), once. It ends with ctx or after
// Options.PromptTimeout. The daemon keeps what it is asked, so private parts and
// secrets are taken out before. A miss is an empty Context; whether it is one
// is said by memoryCount, for the text holds a clock even then.
//
// A start of the key that is under way is waited for. For a session that is
// another's the context says so too.
//
// Errors: memory.ErrOwned, memory.ErrUnavailable.
func (c *Client) Recall(ctx context.Context, s memory.Session, prompt string, seen []string) (memory.Context, error) {
	prompt = sendable(prompt)
	if prompt == "" {
		return memory.Context{Source: memory.FromDaemon, Fetched: c.opts.Now()}, nil
	}
	if err := c.conversations.bypassed(s.Key); err != nil {
		return memory.Context{Owned: true}, err
	}
	switch turn, done := c.rest.take(); turn {
	case callNone:
		return memory.Context{}, unavailable(errResting)
	case callTry:
		c.beside(done, c.opts.StartTimeout, func(ctx context.Context) error {
			return c.follow(ctx, Prompt{Session: s, Text: prompt}, true)
		})
		return memory.Context{}, unavailable(errResting)
	}
	if err := c.conversations.awaitStart(ctx, s.Key); err != nil {
		return memory.Context{}, unavailable(err)
	}
	if err := c.conversations.bypassed(s.Key); err != nil {
		return memory.Context{Owned: true}, err
	}
	if !c.prompts.allow() {
		return memory.Context{}, unavailable(errResting)
	}
	if !c.starts.allow() {
		c.prompts.leave()
		return memory.Context{}, unavailable(errResting)
	}
	limited, cancel := context.WithTimeout(ctx, c.opts.PromptTimeout)
	defer cancel()
	began := time.Now()
	r, err := c.submit(limited, Prompt{Session: s, Text: prompt})
	c.settle(&c.prompts, limited, err)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.starts.leave() // too slow for this caller is not yet broken
	} else {
		c.settle(&c.starts, limited, err)
	}
	if ctx.Err() == nil { // what is too slow for this caller is not yet broken
		c.settleRest(began, err)
	}
	c.conversations.heard(s.Key, err)
	if err != nil {
		return memory.Context{Owned: errors.Is(err, memory.ErrOwned)}, err
	}
	out := memory.Context{
		Source:  memory.FromDaemon,
		Version: c.seenVersion(),
		Fetched: c.opts.Now(),
		Took:    time.Since(began),
	}
	if r.SessionKnown != nil && !*r.SessionKnown && newer(out.Version) {
		c.Resumed(s.Key) // it was restarted: the next prompt claims the key again
	}
	messages := r.messages()
	if r.MemoryCount <= 0 {
		out.Items = unseen(messages, seen)
		return out, nil
	}
	said := r.Inject
	if text(r.DynamicContext) != "" {
		said = *r.DynamicContext
	}
	out.Items, out.Notes = parseRecall(cutMessages(said, messages), r.MemoryCount)
	out.Items = unseen(append(messages, out.Items...), seen)
	return out, nil
}

// unseen are the items that a session was not given before, by id or text.
func unseen(items []memory.Item, seen []string) []memory.Item {
	had := map[string]bool{}
	for _, name := range seen {
		had[oneLine(name)] = true
	}
	return slices.DeleteFunc(items, func(it memory.Item) bool {
		return it.ID != "" && had[it.ID] || had[oneLine(it.Text)]
	})
}

var (
	// The header quotes the prompt's beginning, line breaks and all.
	recallHeader = pattern.New(`(?s)\[signet:recall \| query=".*?" \| results=\d+ \| engine=[^\]\n]*\]`)
	feedbackIDs  = pattern.New(`(?m)^IDs: (.+)$`)
)

// parseRecall takes a recall's text apart into count items. Where it does not
// come apart so, as text of another shape does not, it is given whole as notes.
func parseRecall(s string, count int) (items []memory.Item, notes string) {
	s = newlines(chars.Cut(s, maxText))
	body := s
	if at := recallHeader().FindStringIndex(s); at != nil {
		body = s[at[1]:]
	}
	ids := idList(s)
	body = clean(body)

	texts := split(body, func(string) bool { return true })
	if len(texts) != count {
		// Notes of several lines may hold lists: then only a line after a dated
		// end begins the next one.
		if dated := split(body, itemDate().MatchString); len(dated) == count {
			texts = dated
		}
	}
	if len(texts) != count {
		return nil, body
	}
	for i, t := range texts {
		it := memory.Item{Text: t}
		if m := itemDate().FindStringSubmatchIndex(t); m != nil {
			it.Date = parseDate(t[m[2]:m[3]])
			it.Text = t[:m[0]]
		}
		if strings.TrimSpace(it.Text) == "" {
			continue
		}
		if len(ids) == len(texts) {
			it.ID = ids[i]
		}
		items = append(items, it)
	}
	return items, ""
}

// split cuts a list into the texts of its items. A "- " begins an item where
// after allows it for the line before.
func split(s string, after func(line string) bool) []string {
	var texts []string
	begun, last := -1, ""
	for at := 0; at < len(s); {
		line, _, _ := strings.Cut(s[at:], "\n")
		if strings.HasPrefix(line, "- ") && (begun < 0 || after(last)) {
			if begun >= 0 {
				texts = append(texts, strings.TrimSpace(s[begun:at]))
			}
			begun = at + len("- ")
		}
		at += len(line) + 1
		last = line
	}
	if begun >= 0 {
		texts = append(texts, strings.TrimSpace(s[begun:]))
	}
	return texts
}

func idList(s string) []string {
	var ids []string
	all := feedbackIDs().FindAllStringSubmatch(s, -1)
	if len(all) == 0 {
		return nil
	}
	for _, id := range strings.Split(all[len(all)-1][1], ",") {
		if id = strings.TrimSpace(id); id != "" && len(id) <= 128 {
			ids = append(ids, id)
		}
	}
	return ids
}
