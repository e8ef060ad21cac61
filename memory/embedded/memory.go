package embedded

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Values of columns.
const (
	sourceImport  = "import"         // source
	sourceTurn    = "turn"           // source of what was learned from turns; any other source is a call
	sourceProfile = "memory profile" // source of what a person has kept in their profile
	sourceNotes   = "notes"          // source of what an agent noted of a session when asked for it
	typeSaid      = "said"           // type of the passages of conversations
)

// Values of Memory.Origin.
const (
	fromUser      = "user"
	fromAssistant = "assistant"
)

// Errors that callers tell apart.
var (
	ErrNotFound   = errors.New("no memory has this id")
	ErrAmbiguous  = errors.New("matches more than one memory")
	ErrEmpty      = errors.New("there is nothing to save")
	ErrTooLong    = errors.New("the text is too long: keep the part that matters")
	errImportance = errors.New("importance is a number from 0 to 1")
)

// A Memory is one thing that is known. Its JSON is what commands print and what export writes; the names are a promise.
type Memory struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	// preference, decision, fact, answer, request, or what the caller of Add said
	Type    string `json:"type"`
	Project string `json:"project"` // the git root that it was said in; "" for none
	// Repository is where the project's is from, host and path; set where memories are shown, and not stored.
	Repository    string     `json:"repository,omitempty"`
	Personal      bool       `json:"personal,omitempty"` // true of the person, whatever the project
	Origin        string     `json:"origin"`             // the side that said it: user, assistant, import or child
	Who           memory.Who `json:"from"`               // how it came
	Source        string     `json:"source"`             // how it was stored: turn, memory_store, memory add, …
	Harness       string     `json:"harness,omitempty"`
	Session       string     `json:"session,omitempty"`  // the Signet key; of an import any text
	Position      *float64   `json:"position,omitempty"` // its place in the session, by which neighbours are found
	Turn          int64      `json:"-"`                  // for Add: the row of the turn that it goes with, 0 for none
	Importance    float64    `json:"importance"`         // 0 to 1
	ImportanceSet bool       `json:"-"`                  // for Add: Importance is given, also where it is 0
	Rating        float64    `json:"rating,omitempty"`   // the mean of the feedback, -1 to 1
	Ratings       int        `json:"ratings,omitempty"`  // how many
	Tags          string     `json:"tags,omitempty"`     // comma-separated
	Context       string     `json:"context,omitempty"`  // what it was said about; searched, not shown
	Created       time.Time  `json:"created"`
	Updated       time.Time  `json:"updated"`
	Score         float64    `json:"score,omitempty"` // of a search, 0 to 1
	// Replaces has the ids of older memories that are no longer true since this one; set where one memory is shown.
	Replaces []string `json:"replaces,omitempty"`
	Scope    string   `json:"scope,omitempty"` // of a rule: where it holds
	Said     int      `json:"said,omitempty"`  // of a rule: how often it was said
	Kept     bool     `json:"kept,omitempty"`  // of a rule: a person has looked at it
	Sayings  []string `json:"-"`               // of a rule: the ids of all memories that say it
	// ReplacedBy has the id of a newer one that says that this is no longer so; set in what a search finds.
	ReplacedBy string   `json:"replacedBy,omitempty"`
	Matched    []string `json:"matched,omitempty"` // words of the query that it or its neighbours have
	noteParts
}

// noteParts are what only a note has that an agent made of a session: the turns that it is of, counted from 1, and
// files. Its question is Context.
type noteParts struct {
	Turns []int    `json:"turns,omitempty"`
	Files []string `json:"files,omitempty"`
}

const memoryColumns = `m.uid, m.content, m.type, m.project, m.personal, m.who, m.source, m.harness, m.key,
	m.importance, m.rating, m.ratings, m.tags, m.context, m.created, m.updated, m.position, m.note, m.replaced_by`

func scanMemory(row sqlite.Row) (Memory, error) { return scanMemoryAnd(row) }

// scanMemoryAnd scans a row with more columns behind memoryColumns.
func scanMemoryAnd(row sqlite.Row, more ...any) (m Memory, err error) {
	var created, updated int64
	var position sql.NullFloat64
	var note []byte
	err = row.Scan(append([]any{&m.ID, &m.Content, &m.Type, &m.Project, &m.Personal, &m.Who, &m.Source, &m.Harness,
		&m.Session, &m.Importance, &m.Rating, &m.Ratings, &m.Tags, &m.Context, &created, &updated, &position, &note,
		&m.ReplacedBy}, more...)...)
	if err == nil && len(note) > len("{}") {
		err = json.Unmarshal(note, &m.noteParts)
	}
	if position.Valid {
		m.Position = &position.Float64
	}
	m.Origin = originOf(m.Who)
	m.Created, m.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return m, err
}

// passageColumns are the columns of a memory for a passage p, which is a memory's (m) or was said in a turn. The turn's
// columns are subqueries, row by row: in a join SQLite would make all rows of the view turns_said first.
const passageColumns = `coalesce(m.uid, p.uid), coalesce(m.content, p.content), coalesce(m.type, 'said'), p.project,
	p.personal, p.who, coalesce(m.source, 'turn'), coalesce(m.harness, (SELECT harness FROM turns_said
	WHERE id = p.turn), ''), coalesce(m.key, (SELECT key FROM turns_said WHERE id = p.turn), ''),
	coalesce(m.importance, 0.5), coalesce(m.rating, p.rating), coalesce(m.ratings, p.ratings), coalesce(m.tags, ''),
	coalesce(m.context, ''), p.created, coalesce(m.updated, p.created),
	coalesce(m.position, iif(p.memory IS NULL, p.position, NULL)), coalesce(m.note, '{}'), coalesce(m.replaced_by, '')`

const passageJoins = `LEFT JOIN memories m ON m.id = p.memory`

// memoryOf returns the memory, or the passage of a conversation, with an id; ErrNotFound.
func memoryOf(ctx context.Context, q sqlite.Querier, uid string) (Memory, error) {
	m, err := scanMemory(q.QueryRowContext(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE m.uid = ?`, uid))
	if errors.Is(err, sql.ErrNoRows) {
		m, err = scanMemory(q.QueryRowContext(ctx,
			`SELECT `+passageColumns+` FROM passages p `+passageJoins+` WHERE p.uid = ?`, uid))
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Memory{}, ErrNotFound
	}
	return m, err
}

// resolve returns the id that name is, or the only one that begins with it; ErrNotFound, ErrAmbiguous.
func resolve(ctx context.Context, q sqlite.Querier, name string) (string, error) {
	if name = strings.ToLower(strings.TrimSpace(name)); name == "" {
		return "", ErrNotFound
	}
	const begins = `(SELECT uid FROM %s WHERE uid >= ?1 AND uid <= ?1 || char(1114111) ORDER BY uid LIMIT 2)`
	uids, err := sqlite.Collect(ctx, q, sqlite.One[string], `SELECT * FROM `+fmt.Sprintf(begins,
		"memories")+` UNION SELECT * FROM `+fmt.Sprintf(begins, "passages")+` ORDER BY uid LIMIT 2`, name)
	switch {
	case err != nil:
		return "", err
	case len(uids) == 0:
		return "", ErrNotFound
	case len(uids) > 1 && uids[0] != name:
		return "", ErrAmbiguous
	}
	return uids[0], nil
}

// originOf is the side that said what came so.
func originOf(who memory.Who) string {
	switch {
	case who.ByPerson():
		return fromUser
	case who == memory.Imported:
		return sourceImport
	case who == memory.Child:
		return string(memory.Child)
	}
	return fromAssistant
}

// whoOf is the same the other way, for an export of a version that knew no more.
func whoOf(origin, source string) memory.Who {
	switch {
	case source == Pinned:
		return memory.Pin
	case origin == sourceImport:
		return memory.Imported
	case origin == string(memory.Child):
		return memory.Child
	case origin == fromAssistant && source == "memory_store":
		return memory.Tool
	case origin == fromAssistant:
		return memory.Agent
	}
	return memory.Typed
}

func (m Memory) item() memory.Item {
	it := memory.Item{ID: m.ID, Text: m.Content, Project: m.Project, Origin: m.Origin, Who: m.Who, Date: m.Created,
		Score: m.Score}
	if m.Source == sourceNotes {
		it.About = "noted by " + cmp.Or(m.Harness, "an agent") + ", " + it.Date.UTC().Format(day)
	}
	return it
}

// newID returns a random id, so that its first few characters tell it from all others.
func newID() string { return strings.ToLower(rand.Text()) }

// passageID returns the id of a passage of a turn. Turns beside each other share its first two characters, so that what
// is written together stands together in the index of ids, which else has a page written for each.
func passageID(turn int64) string {
	const letters, together, odd = "abcdefghijklmnopqrstuvwxyz234567", 64, 613
	place := turn / together * odd
	return string([]byte{letters[place>>5&31], letters[place&31]}) + newID()[2:]
}

// digest identifies what a text says, whatever its case, white space and final full stop.
func digest(text string) string {
	folded := strings.ToLower(chars.OneLine(text))
	sum := sha256.Sum256([]byte(strings.TrimRight(folded, ".!")))
	return hex.EncodeToString(sum[:16])
}

// Pinned is the Source of a Change by which a person pins a memory: it is told to every session of its project. It
// stays pinned when its content is changed. Nobody else writes it: tools have sources of their own.
const Pinned = "memory pin"

// ownProject leaves out the name of the project that the session is in.
func ownProject(items []memory.Item, project string) []memory.Item {
	for i := range items {
		if items[i].Project == project {
			items[i].Project = ""
		}
	}
	return items
}

// day is how a date is told.
const day = "2006-01-02"

// minID is the shortest abbreviation of an id, in characters.
const minID = 8

// Short returns the shortest beginning of an id that no other id has, at least minID characters; Get and the others
// take it for the id.
func (s *Store) Short(ctx context.Context, id string) (string, error) {
	const beside = `SELECT max(uid) FROM memories WHERE uid < ?1 UNION ALL SELECT max(uid) FROM passages WHERE uid < ?1
		UNION ALL SELECT min(uid) FROM memories WHERE uid > ?1 UNION ALL SELECT min(uid) FROM passages WHERE uid > ?1`
	neighbours, err := sqlite.Collect(ctx, s.db, sqlite.One[*string], beside, id)
	if err != nil {
		return "", sqlite.While("looking for ids", err)
	}
	need := minID
	for _, other := range neighbours {
		if other == nil {
			continue
		}
		same := 0
		for same < len(id) && same < len(*other) && id[same] == (*other)[same] {
			same++
		}
		need = max(need, same+1)
	}
	return id[:min(need, len(id))], nil
}
