package embedded

import (
	"context"
	"database/sql"
	"strings"
)

// refresh brings the full-text index up to date with the rows that changed, in the transaction that changed them. It does nothing without FTS5.
func (s *Store) refresh(ctx context.Context, tx *sql.Tx) error {
	if ok, err := s.searchable(ctx, tx); err != nil || !ok {
		return err
	}
	type entry struct {
		id                     int64
		content, context, tags string
		project                string
		personal, gone         bool
	}
	stale, err := collect(ctx, tx, func(row scanner) (e entry, err error) {
		return e, row.Scan(&e.id, &e.content, &e.context, &e.tags, &e.project, &e.personal, &e.gone)
	}, `SELECT memory, coalesce(content, ''), coalesce(context, ''), coalesce(tags, ''),
		coalesce(project, ''), coalesce(personal, 0), id IS NULL FROM memories_stale LEFT JOIN memories ON id = memory`)
	if err != nil || len(stale) == 0 {
		return err
	}
	for _, e := range stale {
		if _, err := tx.ExecContext(ctx, `DELETE FROM memories_fts WHERE rowid = ?`, e.id); err != nil {
			return err
		}
		if e.gone {
			continue
		}
		scope := projectTerm(e.project)
		if e.personal || e.project == "" {
			scope += " " + anyProject
		}
		if tellsChange(e.content) {
			scope += " " + changeTerm
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO memories_fts (rowid, content, context, scope) VALUES (?, ?, ?, ?)`,
			e.id, strings.Join(terms(e.content), " "), strings.Join(terms(e.context+" "+e.tags), " "), scope)
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM memories_stale`)
	return err
}

// Terms of the column scope. Private use characters stand in no term of a text.
const (
	anyProject = "\ue000"
	changeTerm = "\ue001"
)

// projectTerm stands for a project, whose path is no term.
func projectTerm(project string) string { return "\ue002" + digest(project)[:12] }

// match makes FTS5's query of terms, of which one must stand in content or context, in the scope of a search. All of required must stand in the column scope.
func (in search) match(terms []string, required ...string) string {
	query := "{content context} : (" + strings.Join(terms, " OR ") + ")"
	if !in.all {
		query = "scope : (" + quote(projectTerm(in.session.Project)) + " OR " + quote(anyProject) + ") AND " + query
	}
	for _, r := range required {
		query = "scope : " + quote(r) + " AND " + query
	}
	return query
}
