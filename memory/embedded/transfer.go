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
	"strings"
)

// longestLine is how long a line of an import may be, in bytes: the longest content with every byte escaped, and room for the rest.
const longestLine = 6*MaxContent + 64<<10

// Export writes all memories as JSON Lines, in the order in which they came, and gives how many.
func (s *Store) Export(ctx context.Context, w io.Writer) (int, error) {
	// Read whole before anything is written: a slow reader must not hold the one connection.
	all, err := collect(ctx, s.db, scanMemory, `SELECT `+memoryColumns+` FROM memories m ORDER BY m.id`)
	if err != nil {
		return 0, explain("exporting memories", err)
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, m := range all {
		if err := enc.Encode(m); err != nil {
			return 0, explain("exporting memories", err)
		}
	}
	return len(all), explain("exporting memories", out.Flush())
}

// Imported is what an import did.
type Imported struct{ Added, Updated, Unchanged int }

// Import reads what Export wrote, or lines with a "content" at least, in one transaction: all of it or nothing. A memory whose id is known is made what the line says.
// Errors name the line; beyond them correlation's.
func (s *Store) Import(ctx context.Context, r io.Reader) (Imported, error) {
	lines, err := readMemories(r)
	if err != nil {
		return Imported{}, fmt.Errorf("importing memories: %w", err)
	}
	var done Imported
	err = s.write(ctx, "importing memories", func(tx *sql.Tx) error {
		done = Imported{}
		for i, m := range lines {
			if err := s.take(ctx, tx, m, &done); err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		return s.refresh(ctx, tx)
	})
	if err != nil {
		return Imported{}, err
	}
	return done, nil
}

// take makes one memory stand as m says.
func (s *Store) take(ctx context.Context, tx *sql.Tx, m Memory, done *Imported) error {
	if m.Source == "" {
		m.Source = "import"
	}
	m.Score = 0
	if err := m.prepare(s.opts.Now()); err != nil {
		return err
	}
	m.Created, m.Updated = m.Created.UTC(), m.Updated.UTC()
	have, err := memoryOf(ctx, tx, m.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		done.Added++
		return s.insert(ctx, tx, m)
	case err != nil:
		return err
	case have == m:
		done.Unchanged++
		return nil
	}
	done.Updated++
	_, err = tx.ExecContext(ctx, `UPDATE memories SET type = ?, project = ?, personal = ?, origin = ?, source = ?, harness = ?, key = ?, importance = ?, rating = ?, ratings = ?,
		created = ?, updated = ?, digest = ?, tags = ?, context = ?, content = ? WHERE uid = ?`, m.Type, m.Project, m.Personal, m.Origin, m.Source, m.Harness, m.Session,
		m.Importance, m.Rating, m.Ratings, m.Created.UnixMilli(), m.Updated.UnixMilli(), digest(m.Content), m.Tags, m.Context, m.Content, m.ID)
	return err
}

// readMemories reads JSON Lines. Blank lines and fields that are not known are passed over.
func readMemories(r io.Reader) ([]Memory, error) {
	var all []Memory
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
			return nil, fmt.Errorf("line %d is no memory as export writes it: %w", n, err)
		}
		m := read.Memory
		if m.Weighed = read.Importance != nil; m.Weighed {
			m.Importance = *read.Importance
		}
		if m.Content == "" {
			return nil, fmt.Errorf("line %d has no content", n)
		}
		m.ID = strings.ToLower(m.ID)
		all = append(all, m)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	return all, nil
}
