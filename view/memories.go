package view

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	mostMemories = 10_000
	// replacedTime is how long may be looked for what memories replaced: each is a search of the store.
	replacedTime = 2 * time.Second
)

// A Memory is one as the page shows it.
type Memory struct {
	embedded.Memory
	From     *Session // the session that it came from, where that is on the page
	Given    []Giving // newest first
	Back     int      // to how many of these an answer came back
	Pinned   bool
	Replaced []embedded.Memory
}

// A Giving is a session that was told a memory.
type Giving struct {
	Session *Session // nil: it is not on the page
	At      time.Time
	Used    bool // an answer came back to it
}

// A Shelf is the memories of a project, the newest first.
type Shelf struct {
	Project  string
	Personal bool // the person's own, whatever the project
	Memories []*Memory
}

// useOf names a memory that a session was told.
type useOf struct {
	session int64
	item    string
}

// toldItems gives what sessions were told, and whether an answer came back to it.
func toldItems(ctx context.Context, db *sql.DB) (map[useOf]bool, error) {
	used := map[useOf]bool{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var u useOf
		var back bool
		err = row.Scan(&u.session, &u.item, &back)
		used[u] = back
		return struct{}{}, err
	}, `SELECT session, item, used FROM passages_told`)
	return used, sqlite.While("reading what was used", err)
}

// itemTexts gives the beginnings of all that was inserted and is still known, by id.
func itemTexts(ctx context.Context, db *sql.DB) (map[string]string, error) {
	texts := map[string]string{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var id, text string
		err = row.Scan(&id, &text)
		texts[id] = text
		return struct{}{}, err
	}, `SELECT uid, substr(content, 1, ?1) FROM memories UNION ALL
		SELECT uid, substr(content, 1, ?1) FROM passages WHERE given > 0 AND memory IS NULL`, 8*mostTitle)
	return texts, sqlite.While("reading memories", err)
}

// remembered reads memories, and the passages of conversations that somebody was told.
func (p *Page) remembered(ctx context.Context, src Source) error {
	all, err := src.Memories.List(ctx, embedded.Filter{Limit: mostMemories})
	if err != nil {
		return err
	}
	if err := src.DB.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM memories) + (SELECT count(*) FROM passages
		WHERE given > 0 AND memory IS NULL)`).Scan(&p.AllMemories); err != nil {
		return sqlite.While("counting memories", err)
	}
	told, err := src.Memories.Told(ctx, mostMemories-len(all))
	if err != nil {
		return err
	}
	given, err := givings(ctx, src.DB, p.sessions)
	if err != nil {
		return err
	}
	from, err := sessionsByKey(ctx, src.DB)
	if err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, replacedTime)
	defer cancel()
	shelves := map[[2]string]*Shelf{}
	for _, one := range append(all, told...) {
		m := &Memory{Memory: one, From: p.sessions[from[one.Session]], Given: given[one.ID],
			Pinned: one.Source == embedded.Pinned}
		if m.Replaced, err = src.Memories.Replaced(patient, one); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		for _, g := range m.Given {
			if g.Used {
				m.Back++
			}
		}
		key := [2]string{one.Project}
		if one.Personal {
			key = [2]string{"", "personal"}
		}
		if shelves[key] == nil {
			shelves[key] = &Shelf{Project: key[0], Personal: one.Personal}
		}
		shelves[key].Memories = append(shelves[key].Memories, m)
		p.Memories++
	}
	for _, s := range shelves {
		slices.SortStableFunc(s.Memories, func(a, b *Memory) int { return b.Created.Compare(a.Created) })
		p.Shelves = append(p.Shelves, *s)
	}
	slices.SortFunc(p.Shelves, func(a, b Shelf) int {
		if a.Personal != b.Personal {
			return map[bool]int{true: -1, false: 1}[a.Personal]
		}
		return cmp.Or(b.Memories[0].Created.Compare(a.Memories[0].Created), cmp.Compare(a.Project, b.Project))
	})
	return nil
}

// givings gives who was told a memory and when, by its id.
func givings(ctx context.Context, db *sql.DB, sessions map[int64]*Session) (map[string][]Giving, error) {
	used, err := toldItems(ctx, db)
	if err != nil {
		return nil, err
	}
	given := map[string][]Giving{}
	_, err = sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var u useOf
		var at int64
		err = row.Scan(&u.session, &u.item, &at)
		given[u.item] = append(given[u.item], Giving{sessions[u.session], sqlite.Unstamp(at), used[u]})
		return struct{}{}, err
	}, `SELECT i.session, j.value, i.at FROM injections i, json_each(i.items) j WHERE i.outcome <> 'refused'
		ORDER BY i.at DESC`)
	return given, sqlite.While("reading what was told", err)
}

// sessionsByKey gives the sessions that have, or had, a Signet key.
func sessionsByKey(ctx context.Context, db *sql.DB) (map[string]int64, error) {
	sessions := map[string]int64{}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var key string
		var id int64
		err = row.Scan(&key, &id)
		sessions[key] = id
		return struct{}{}, err
	}, `SELECT key, session FROM session_keys`)
	return sessions, sqlite.While("reading keys", err)
}
