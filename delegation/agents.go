package delegation

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Availability of an agent.
const (
	available = "available"
	byNpx     = "by npx"  // nobody has installed it: npx fetches it at the start, if it can
	busy      = "busy"    // it has a live session; another one can be started
	missing   = "missing" // it cannot be started; Fix says what to do
)

// noteAgent stores what an agent says of itself.
func (l *Ledger) noteAgent(ctx context.Context, agent string, a acpclient.Agent, commands []string) error {
	_, err := l.db.ExecContext(ctx, `INSERT INTO noted (kind, name, at, value) VALUES ('agent', ?, ?,
			json_object('title', ?, 'version', ?, 'reopens', json(iif(?, 'true', 'false')), 'commands', json(?)))
		ON CONFLICT DO UPDATE SET at = excluded.at, value = iif(excluded.value -> 'commands' = '[]',
			json_set(excluded.value, '$.commands', value -> 'commands'), excluded.value)`,
		agent, sqlite.Stamp(l.now()), clean(cmp.Or(a.Info.Title, a.Info.Name)), clean(a.Info.Version), a.Reopens(),
		sqlite.List(commands))
	return sqlite.While("noting what an agent says of itself", err)
}

// Agents returns the agents, also those that cannot be started, which come last.
func (s *Service) Agents(ctx context.Context) ([]Agent, error) {
	known, err := s.Known(ctx)
	if err != nil {
		return nil, err
	}
	l := s.Ledger
	working, err := l.query(ctx, `WHERE state = ?`, Running)
	if err != nil {
		return nil, err
	}
	seen, err := l.seen(ctx)
	if err != nil {
		return nil, err
	}
	agents := make([]Agent, 0, len(known))
	for _, a := range known {
		a.Capabilities, a.Status, a.Commands = list(a.Capabilities), available, seen[a.ID]
		running := func(d Delegation) bool { return d.Agent == a.ID && d.State == Running }
		switch {
		case a.Fix != "":
			a.Status, a.Session = missing, ""
		case a.Session != "" || slices.ContainsFunc(working, running):
			a.Status = busy
		case a.ByNpx:
			a.Status = byNpx
		}
		agents = append(agents, a)
	}
	slices.SortStableFunc(agents, func(a, b Agent) int {
		switch {
		case (a.Status == missing) == (b.Status == missing):
			return strings.Compare(a.ID, b.ID)
		case a.Status == missing:
			return 1
		}
		return -1
	})
	return agents, nil
}

// seen returns the slash commands that agents advertised.
func (l *Ledger) seen(ctx context.Context) (map[string][]string, error) {
	seen := map[string][]string{}
	err := sqlite.Each(ctx, l.db, func(row sqlite.Row) error {
		var agent, names string
		var commands []string
		err := row.Scan(&agent, &names)
		if err == nil {
			err = json.Unmarshal([]byte(names), &commands)
		}
		seen[agent] = commands
		return err
	}, `SELECT name, value ->> 'commands' FROM noted WHERE kind = 'agent'`)
	return seen, sqlite.While("reading what agents said of themselves", err)
}
