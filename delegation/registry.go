package delegation

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/delegation/client"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Availability of an agent.
const (
	Available = "available"
	Busy      = "busy"    // a session of its is live; another can be begun
	Missing   = "missing" // it cannot be started; Fix says what to do
)

// An Agent is one that can be asked.
type Agent struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Capabilities []string `json:"capabilities"`
	Status       string   `json:"status"`
	Session      string   `json:"session,omitempty"` // that keeps it busy
	Fix          string   `json:"fix,omitempty"`
	Commands     []string `json:"commands,omitempty"` // that it said it takes
	Records      []Record `json:"records"`
}

// Known is what the configuration and the system say of an agent.
type Known struct {
	ID, Title    string
	Capabilities []string
	Fix          string // "": it can be started
	Session      string // that is live, "" for none
}

// Seen keeps what an agent says of itself.
func (l *Ledger) Seen(ctx context.Context, agent string, a client.Agent, commands []string) error {
	names, err := json.Marshal(list(commands))
	if err != nil {
		return err
	}
	title := a.Info.Title
	if title == "" {
		title = a.Info.Name
	}
	_, err = l.db.ExecContext(ctx, `INSERT INTO agents_seen (agent, title, version, commands, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (agent) DO UPDATE SET title = excluded.title, version = excluded.version, at = excluded.at,
			commands = iif(excluded.commands = '[]', commands, excluded.commands)`, agent, clean(title),
		clean(a.Info.Version), string(names), sqlite.Stamp(l.now()))
	return sqlite.While("noting what an agent says of itself", err)
}

// Agents joins what is known of agents with what they did.
func (l *Ledger) Agents(ctx context.Context, known []Known) ([]Agent, error) {
	past, err := l.List(ctx, "", 0)
	if err != nil {
		return nil, err
	}
	seen, err := l.seen(ctx)
	if err != nil {
		return nil, err
	}
	used, err := l.used(ctx)
	if err != nil {
		return nil, err
	}
	agents := make([]Agent, 0, len(known))
	for _, k := range known {
		a := Agent{ID: k.ID, Title: k.Title, Capabilities: list(k.Capabilities), Status: Available,
			Commands: seen[k.ID], Records: records(k.ID, past, used, l.now())}
		for _, r := range a.Records {
			if r.Done > 0 && r.Score > 0 && !slices.Contains(a.Capabilities, r.Kind) {
				a.Capabilities = append(a.Capabilities, r.Kind)
			}
		}
		running := slices.ContainsFunc(past, func(d Delegation) bool { return d.Agent == k.ID && d.State == Running })
		switch {
		case k.Fix != "":
			a.Status, a.Fix = Missing, k.Fix
		case k.Session != "" || running:
			a.Status, a.Session = Busy, k.Session
		}
		agents = append(agents, a)
	}
	slices.SortStableFunc(agents, func(a, b Agent) int {
		return strings.Compare(statusOrder(a.Status)+a.ID, statusOrder(b.Status)+b.ID)
	})
	return agents, nil
}

func statusOrder(status string) string {
	if status == Missing {
		return "1"
	}
	return "0"
}

func (l *Ledger) seen(ctx context.Context) (map[string][]string, error) {
	type row struct {
		agent    string
		commands []string
	}
	all, err := sqlite.Collect(ctx, l.db, func(r sqlite.Row) (one row, err error) {
		var names string
		if err := r.Scan(&one.agent, &names); err != nil {
			return one, err
		}
		return one, json.Unmarshal([]byte(names), &one.commands)
	}, `SELECT agent, commands FROM agents_seen`)
	m := map[string][]string{}
	for _, one := range all {
		m[one.agent] = one.commands
	}
	return m, sqlite.While("reading what agents said of themselves", err)
}

// Kinds of work that are known by the words of a task, in the order in which they are looked for.
var kinds = []struct{ kind, words string }{
	{"review", "review audit inspect critique prüfen relecture revisar"},
	{"test", "test tests testing coverage fuzz benchmark"},
	{"docs", "document documentation docs readme changelog translate dokumentation traduire"},
	{"fix", "fix bug crash regression debug repair beheben corriger"},
	{"refactor", "refactor rename restructure simplify clean cleanup"},
	{"research", "research investigate find search explain compare summarize look analyse analyze"},
	{"build", "implement add build create write feature"},
}

// kindOf names the kind of work that a request is: the capability of somebody's that its words name, else by its
// words, else by what it may do.
func kindOf(r Request, agents []Agent) string {
	texts := []string{r.Task + "\n" + r.Scope}
	var names []string
	for _, a := range agents {
		for _, c := range a.Capabilities {
			names, texts = append(names, c), append(texts, c)
		}
	}
	for _, k := range kinds {
		names, texts = append(names, k.kind), append(texts, k.words)
	}
	content := language.Content(texts...)
	own := map[string]bool{}
	for _, w := range content[0] {
		own[w] = true
	}
	known := len(names) - len(kinds)
	for i, name := range names {
		hits := 0
		for _, w := range content[i+1] {
			if own[w] {
				hits++
			}
		}
		if i < known && hits > 0 && hits == len(content[i+1]) || i >= known && hits > 0 {
			return name
		}
	}
	return string(r.Mode)
}

// best chooses who is asked where nobody was named: who has the capability, then who did such work well, then who is
// free; never who asks, while there is another.
func best(agents []Agent, kind, caller string) (Agent, bool) {
	rank := func(a Agent) float64 {
		n := 0.0
		if slices.Contains(a.Capabilities, kind) {
			n += 2
		}
		for _, r := range a.Records {
			if r.Kind == kind {
				n += r.Score
			}
		}
		if a.Status == Busy {
			n -= 0.1
		}
		if a.ID == caller {
			n -= 10
		}
		return n
	}
	var chosen Agent
	found := false
	for _, a := range agents {
		if a.Status != Missing && (!found || rank(a) > rank(chosen)) {
			chosen, found = a, true
		}
	}
	return chosen, found
}
