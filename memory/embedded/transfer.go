package embedded

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// longestLine is how long a line of an import may be, in bytes: the longest content with every byte escaped, and room
// for the rest.
const longestLine = 6*MaxContent + 64<<10

// Export writes all memories to w as JSON Lines, in the order in which they came, and returns how many. With said it
// writes the passages of conversations after them.
func (s *Store) Export(ctx context.Context, w io.Writer, said bool) (n int, err error) {
	const doing = "exporting memories"
	out := bufio.NewWriter(w)
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	// A page is read before it is written: a slow reader of w must not hold the only connection to the database.
	pages := func(query string, after ...any) error {
		for {
			page, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (Memory, error) {
				return scanMemoryAnd(row, after...)
			}, query, slices.Concat(after, []any{exportPage})...)
			if err != nil {
				return err
			}
			for _, m := range page {
				line.Reset()
				if err := enc.Encode(m); err != nil {
					return err
				}
				if _, err := out.Write(chars.EscapeJSON(line.Bytes())); err != nil {
					return err
				}
			}
			if n += len(page); len(page) < exportPage {
				return nil
			}
		}
	}
	err = pages(`SELECT `+memoryColumns+`, m.id FROM memories m WHERE m.id > ? ORDER BY m.id LIMIT ?`, new(int64))
	if err == nil && said {
		err = pages(`SELECT `+passageColumns+`, p.thread, p.position, p.id FROM passages p `+passageJoins+`
			WHERE p.memory IS NULL AND p.thread <> 0 AND (p.thread, p.position, p.id) > (?, ?, ?)
			ORDER BY p.thread, p.position, p.id LIMIT ?`, new(int64), new(float64), new(int64))
	}
	if err == nil {
		err = out.Flush()
	}
	return n, sqlite.While(doing, err)
}

// exportPage is how many memories are read at a time.
const exportPage = 500

// ImportOptions say what an import may do.
type ImportOptions struct {
	Trust   bool // lines are believed who said them, whether a person pinned them, and whether they hold everywhere
	Replace bool // a memory whose id is known is changed to what its line says
	// Project is where a line holds that is not believed to hold everywhere.
	Project string
}

// Imported is what an import did, and of what came in or was changed, how many hold where. Its JSON is a promise.
type Imported struct {
	Added      int            `json:"added"`
	Updated    int            `json:"updated"`
	Unchanged  int            `json:"unchanged"`
	Kept       int            `json:"kept"`       // of Unchanged: their lines say something else
	Doubted    int            `json:"doubted"`    // claim more than is believed without Trust
	Pinned     int            `json:"pinned"`     //
	Everywhere int            `json:"everywhere"` //
	Projects   map[string]int `json:"projects"`   // all others; "" is none
}

// Add counts what another file has brought.
func (i *Imported) Add(other Imported) {
	i.Added, i.Updated, i.Unchanged = i.Added+other.Added, i.Updated+other.Updated, i.Unchanged+other.Unchanged
	i.Kept, i.Doubted = i.Kept+other.Kept, i.Doubted+other.Doubted
	i.Pinned, i.Everywhere = i.Pinned+other.Pinned, i.Everywhere+other.Everywhere
	if i.Projects == nil {
		i.Projects = map[string]int{}
	}
	for project, n := range other.Projects {
		i.Projects[project] += n
	}
}

// Import reads what Export wrote, or lines with at least a "content", in one transaction: all of it or nothing. After
// that the index is brought up to date, in many short transactions. Errors name the line, or are package sqlite's.
func (s *Store) Import(ctx context.Context, r io.Reader, o ImportOptions) (done Imported, err error) {
	const doing = "importing memories"
	// Between reading and storing the lines are on disk: the database is not locked while they are read, and a million
	// lines need no more memory than one.
	spool, err := os.CreateTemp("", "memories-*")
	if err != nil {
		return done, sqlite.While(doing, err)
	}
	os.Remove(spool.Name()) // on Unix at once, so that a killed process leaves nothing behind
	defer os.Remove(spool.Name())
	defer spool.Close()
	out := bufio.NewWriter(spool)
	if err = s.readMemories(r, o, json.NewEncoder(out)); err == nil {
		err = out.Flush()
	}
	if err != nil {
		return done, sqlite.While(doing, err)
	}
	err = sqlite.Write(ctx, s.db, doing, func(tx *sql.Tx) error {
		done = Imported{Projects: map[string]int{}}
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		for in := json.NewDecoder(spool); ; {
			var l importedLine
			if err := in.Decode(&l); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := s.importOne(ctx, tx, l, o.Replace, &done); err != nil {
				return fmt.Errorf("line %d: %w", l.Line, err)
			}
		}
	})
	if err != nil {
		return Imported{}, err
	}
	return done, s.foldAll(ctx, time.Time{})
}

// An importedLine is a memory as it will be stored, and where it came from.
type importedLine struct {
	Memory
	Line           int
	HasID, HasDate bool // the line names its id; its time
	Doubted        bool // it claims more than is believed
}

// doubt takes from a line what nobody can know who has not written it: that the user said it, that a person pinned it,
// how much it matters, and that it holds everywhere.
func (l *importedLine) doubt(project string) {
	m := l.Memory
	l.Doubted = m.Origin == fromUser || m.Who != "" && m.Who != memory.Imported || m.Source == Pinned || m.Personal
	if m.Personal && m.Project == "" {
		m.Project = project
	}
	l.Memory = Memory{ID: m.ID, Content: m.Content, Type: m.Type, Tags: m.Tags, Context: m.Context, Project: m.Project,
		Session: m.Session, Position: m.Position, Created: m.Created, Updated: m.Updated,
		Who: memory.Imported, Source: sourceImport}
}

// importOne stores one memory, or with replace changes the one with its id, and counts it in done.
func (s *Store) importOne(ctx context.Context, tx *sql.Tx, l importedLine, replace bool, done *Imported) error {
	m := l.Memory
	have, err := Memory{}, ErrNotFound
	if l.HasID {
		have, err = memoryOf(ctx, tx, m.ID)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		if known, err := exists(ctx, tx, m, l.HasDate); err != nil || known {
			done.Unchanged++
			return err
		}
		done.Added++
		done.count(l)
		return s.insert(ctx, tx, m)
	case err != nil:
		return err
	case reflect.DeepEqual(have, m), have.Type == typeSaid && have.Source == sourceTurn:
		done.Unchanged++
		return nil
	case !replace:
		done.Unchanged++
		if have.Content != m.Content {
			done.Kept++
		}
		return nil
	}
	done.Updated++
	done.count(l)
	_, err = tx.ExecContext(ctx, `UPDATE memories
		SET type = ?, project = ?, personal = ?, who = ?, source = ?, harness = ?, key = ?, importance = ?,
		rating = ?, ratings = ?,
		created = ?, updated = ?, digest = ?, tags = ?, context = ?, position = ?, content = ?
		WHERE uid = ?`, m.Type, m.Project, m.Personal, m.Who, m.Source, m.Harness, m.Session,
		m.Importance, m.Rating, m.Ratings, m.Created.UnixMilli(), m.Updated.UnixMilli(), digest(m.Content), m.Tags,
		m.Context, m.Position, m.Content, m.ID)
	return err
}

// count counts a memory that came in or was changed.
func (done *Imported) count(l importedLine) {
	if l.Doubted {
		done.Doubted++
	}
	if l.Source == Pinned {
		done.Pinned++
	}
	if l.Personal {
		done.Everywhere++
	} else {
		done.Projects[l.Project]++
	}
}

// exists reports whether the project has a memory with the same text; with dated also made at the same time, and with a
// position also at that place of the same session.
func exists(ctx context.Context, tx *sql.Tx, m Memory, dated bool) (known bool, err error) {
	same, args := `digest = ? AND project = ?`, []any{digest(m.Content), m.Project}
	if dated {
		same, args = same+` AND created = ?`, append(args, m.Created.UnixMilli())
	}
	if m.Position != nil {
		same, args = same+` AND key = ? AND position = ?`, append(args, m.Session, m.Position)
	}
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM memories WHERE `+same+`)`, args...).Scan(&known)
	return known, err
}

// readMemories reads JSON Lines and writes each memory to out as it will be stored. Blank lines and unknown fields are
// passed over.
func (s *Store) readMemories(r io.Reader, o ImportOptions, out *json.Encoder) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), longestLine)
	n := 0
	for in.Scan() {
		n++
		line := bytes.TrimSpace(bytes.TrimPrefix(in.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		var read struct {
			Memory
			Importance *float64 `json:"importance"`
		}
		if err := json.Unmarshal(line, &read); err != nil {
			return fmt.Errorf("line %d is no memory as export writes it: %w", n, err)
		}
		m := read.Memory
		if m.ImportanceSet = read.Importance != nil; m.ImportanceSet {
			m.Importance = *read.Importance
		}
		if m.Content == "" {
			return fmt.Errorf("line %d has no content", n)
		}
		m.ID = strings.ToLower(m.ID)
		if m.Source == "" || m.Source == sourceTurn && m.Type == typeSaid { // its conversation is not imported
			m.Source = sourceImport
		}
		m.Score, m.Matched, m.Scope, m.Said, m.ReplacedBy = 0, nil, "", 0, ""
		l := importedLine{Memory: m, Line: n, HasID: m.ID != "", HasDate: !m.Created.IsZero()}
		if !o.Trust {
			l.doubt(o.Project)
		}
		if err := l.prepare(s.opts.Now()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		l.Created, l.Updated = l.Created.UTC(), l.Updated.UTC()
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}
