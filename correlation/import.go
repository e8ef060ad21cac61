package correlation

import (
	"context"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrForgotten is an error of Import: a person has had the session forgotten.
var ErrForgotten = errors.New("it was forgotten")

// An Import is a conversation of another program's transcript that is being taken in.
type Import struct {
	Session Session     // the stored one; ID 0: there is none
	Open    OpenSession // what its event says: of a stored session that it is this one, and nothing new
	store   *Store
	acpID   string
	known   map[digest]int // how many turns with this prompt its session had, less those that NewTurns has met
}

// Import begins to import a conversation. If its session is stored already, from whatever source, it is found by its
// ACP id. The error is ErrForgotten if a person has had it forgotten.
func (s *Store) Import(ctx context.Context, o OpenSession) (*Import, error) {
	ctx = context.WithoutCancel(ctx) // these reads are short, and watching the context would double their cost
	if gone, err := s.IsForgotten(ctx, o.ACPID); err != nil {
		return nil, err
	} else if gone {
		return nil, ErrForgotten
	}
	i := &Import{store: s, Open: o, acpID: o.ACPID, known: map[digest]int{}}
	v, err := s.Find(ctx, o.Harness, o.ACPID)
	if errors.Is(err, ErrNotFound) {
		return i, nil
	}
	if err != nil {
		return nil, err
	}
	i.Session, i.Open = v, OpenSession{Harness: v.Harness, ACPID: v.ACPID}
	known, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (sum digest, err error) {
		var user string
		err = row.Scan(&user)
		return digestOf(user), err
	}, ancestors("continue_of")+` SELECT user FROM turns WHERE session IN ancestors`, v.ID)
	if err != nil {
		return nil, sqlite.While("reading turns", err)
	}
	for _, sum := range known {
		i.known[sum]++
	}
	return i, nil
}

// NewTurns returns which of turns, which have ended and are in order, the session does not have, and how many of the
// others were forgotten. A turn counts as stored for each stored one with the same prompt.
func (i *Import) NewTurns(ctx context.Context, turns []Turn) (fresh []int, forgotten int, err error) {
	gone, err := i.store.forgottenTurns(context.WithoutCancel(ctx), i.acpID, turns)
	if err != nil {
		return nil, 0, err
	}
	for n, t := range turns {
		if sum := digestOf(t.User); i.known[sum] > 0 {
			i.known[sum]--
		} else if gone[n] {
			forgotten++
		} else {
			fresh = append(fresh, n)
		}
	}
	return fresh, forgotten, nil
}

// Projects returns the folders in which sessions were, and the projects that these are of.
func (s *Store) Projects(ctx context.Context) ([]string, error) {
	all, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT cwd FROM sessions WHERE cwd <> ''
		UNION SELECT project FROM sessions WHERE project <> ''`)
	return all, sqlite.While("looking for projects", err)
}

// Imported returns the sessions that an import has made, by the name that it goes by (OpenSession.Client).
func (s *Store) Imported(ctx context.Context, client string) ([]int64, error) {
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions WHERE client = ? ORDER BY id`,
		client)
	return ids, sqlite.While("looking for what was imported", err)
}
