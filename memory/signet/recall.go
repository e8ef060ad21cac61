package signet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// Recall asks what the daemon knows about a prompt (POST /api/hooks/user-prompt-submit), once. It ends with ctx or
// after Options.PromptTimeout. The daemon keeps what it is asked, so private passages and secrets are removed before.
// When it knows nothing the Context is empty; memoryCount says so, for the text holds a clock even then.
//
// It waits for a start of the key that is under way. For a session that another integration owns the Context has Owned
// set.
//
// Errors: memory.ErrOwned, memory.ErrUnavailable.
func (c *Client) Recall(ctx context.Context, s memory.Session, prompt string, seen []string) (memory.Context, error) {
	prompt = sendable(prompt)
	if prompt == "" {
		return memory.Context{Source: memory.FromDaemon, Fetched: c.opts.Now()}, nil
	}
	if err := c.bypassed(s.Key); err != nil {
		return memory.Context{Owned: true}, err
	}
	switch turn, done := c.presence.allow(); turn {
	case callDenied:
		return memory.Context{}, unavailable(errOpen)
	case callProbe:
		c.probe(done, c.opts.StartTimeout, func(ctx context.Context) error {
			return c.follow(ctx, Prompt{Session: s, Text: prompt}, true)
		})
		return memory.Context{}, unavailable(errOpen)
	}
	if err := c.awaitStart(ctx, s.Key); err != nil {
		return memory.Context{Owned: errors.Is(err, memory.ErrOwned)}, err
	}
	began := time.Now()
	r, err := c.ask(ctx, s, prompt)
	if err != nil {
		return memory.Context{Owned: errors.Is(err, memory.ErrOwned)}, err
	}
	out := memory.Context{
		Source:  memory.FromDaemon,
		Version: c.presence.seenVersion(),
		Fetched: c.opts.Now(),
		Took:    time.Since(began),
	}
	if r.SessionKnown != nil && !*r.SessionKnown && newer(out.Version) {
		c.resumed(s.Key) // it was restarted: the next prompt claims the key again
	}
	out.Items = c.messages(ctx, s, r.notifications)
	if r.MemoryCount > 0 {
		said := cmp.Or(text(r.DynamicContext), r.Inject)
		var items []memory.Item
		items, out.Notes = parseRecall(cutMessages(said, out.Items), r.MemoryCount)
		out.Items = append(out.Items, items...)
	}
	out.Items = c.ofProject(ctx, s, unseen(out.Items, seen))
	return out, nil
}

// ask submits a prompt for Recall, and notes for other processes how that ended.
func (c *Client) ask(ctx context.Context, s memory.Session, prompt string) (promptReply, error) {
	limited, cancel := context.WithTimeout(ctx, c.opts.PromptTimeout)
	defer cancel()
	began := time.Now()
	c.recallBegins(s.Key, prompt)
	r, err := c.submit(limited, Prompt{Session: s, Text: prompt, Last: c.TakeAnswer(s.Key)})
	if ctx.Err() == nil { // a daemon that is too slow for this caller may still work for others
		c.settleShared(began, err)
	}
	c.heard(s.Key, err)
	if err != nil && !inDoubt(err) {
		c.recalled(s.Key, prompt) // the daemon has not got it
	}
	return r, err
}

// unseen returns the items that a session was not given before, by id or text.
func unseen(items []memory.Item, seen []string) []memory.Item {
	had := map[string]bool{}
	for _, name := range seen {
		had[chars.OneLine(name)] = true
	}
	return slices.DeleteFunc(items, func(it memory.Item) bool {
		return it.ID != "" && had[it.ID] || had[chars.OneLine(it.Text)]
	})
}

var (
	// The header quotes the prompt's beginning, line breaks and all.
	recallHeader = pattern.New(`(?s)\[signet:recall \| query=".*?" \| results=\d+ \| engine=[^\]\n]*\]`)
	feedbackIDs  = pattern.New(`(?m)^IDs: (.+)$`)
)

// parseRecall cuts a recall's text into count items. Text that does not come apart into so many is given whole, as
// notes.
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
		// A note of several lines may hold a list: then only a line after one that ends in a date begins the next note.
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

// split cuts a list into the texts of its items. "- " begins an item only where after allows it for the line before.
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

// idList returns the ids that a recall's request for feedback names, in the order of the items.
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
