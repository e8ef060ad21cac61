package correlation

import (
	"context"
	"errors"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrForgotten is an error of Import: a person has had the session forgotten.
var ErrForgotten = errors.New("it was forgotten")

const (
	// ImportHarness is the harness of processes that import conversations (ProcessInfo).
	ImportHarness = "backfill"
	// Backfill begins the client of what an import has made (OpenSession.Client); its agent follows.
	Backfill = ImportHarness + ":"
)

// An Import is a conversation of another program's transcript that is being taken in.
type Import struct {
	Session Session     // the stored one; ID 0: there is none
	Live    bool        // a living process that is no import holds it
	Open    OpenSession // what its event says: of a stored session that it is this one, and nothing new
	store   *Store
	acpID   string
	known   map[digest]int // how many turns with this prompt its session had, less those that NewTurns has met
	last    Turn           // the one that an import has brought last; it may have been read while it went on
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
	i.Live, err = value[bool](ctx, s.db, "looking who holds a session", `SELECT EXISTS (SELECT 1 FROM attachments a
		JOIN processes p ON p.id = a.process
		WHERE a.session = ? AND a.closed = 0 AND p.ended = 0 AND p.harness <> ?)`, v.ID, ImportHarness)
	if err != nil {
		return nil, err
	}
	i.Session, i.Open = v, OpenSession{Harness: v.Harness, ACPID: v.ACPID}
	isOurs := strings.HasPrefix(v.Client, Backfill)
	err = sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var t Turn
		err := row.Scan(&t.ID, &t.User, &t.Assistant)
		i.known[digestOf(t.User)]++
		if isOurs {
			i.last = t
		}
		return err
	}, ancestors("continue_of")+` SELECT id, user, assistant FROM turns WHERE session IN ancestors
		ORDER BY started, id`, v.ID)
	if err != nil {
		return nil, sqlite.While("reading turns", err)
	}
	return i, nil
}

// NewTurns returns which of turns, which have ended and are in order, the session does not have, and how many of the
// others were forgotten. A turn counts as stored for each stored one with the same prompt, unless it was read while it
// went on and has grown since: then its ID is set.
func (i *Import) NewTurns(ctx context.Context, turns []Turn) (fresh []int, forgotten int, err error) {
	gone, err := i.store.forgottenTurns(context.WithoutCancel(ctx), i.acpID, turns)
	if err != nil {
		return nil, 0, err
	}
	for n, t := range turns {
		if sum := digestOf(t.User); i.known[sum] > 0 {
			i.known[sum]--
			if i.last.hasGrown(t) {
				turns[n].ID = i.last.ID
				fresh = append(fresh, n)
			}
		} else if gone[n] {
			forgotten++
		} else {
			fresh = append(fresh, n)
		}
	}
	return fresh, forgotten, nil
}

// Projects returns the folders in which sessions were, and the projects that these are of.
func (s Book) Projects(ctx context.Context) ([]string, error) {
	return collect(ctx, s.db, "looking for projects", sqlite.One[string], `SELECT cwd FROM sessions WHERE cwd <> ''
		UNION SELECT project FROM sessions WHERE project <> ''`)
}

// Imported returns the sessions that an import has made, by the name that it goes by (OpenSession.Client).
func (s Book) Imported(ctx context.Context, client string) ([]int64, error) {
	return collect(ctx, s.db, "looking for what was imported", sqlite.One[int64],
		`SELECT id FROM sessions WHERE client = ? ORDER BY id`, client)
}
