package correlation

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// titleLength is how many characters of a first prompt are read for a title.
const titleLength = 400

// FirstWords returns the beginning of the first prompt of each session's conversation: of those that it continues as
// well. Without a turn it is missing.
func (s Book) FirstWords(ctx context.Context, in Scope) (map[int64]string, error) {
	found, err := sqlite.Pairs[int64, string](ctx, s.db, `WITH RECURSIVE chain (session, id) AS (
			SELECT id, id FROM sessions WHERE `+in.where("id")+` UNION
			SELECT c.session, s.continue_of FROM chain c JOIN sessions s ON s.id = c.id
			WHERE s.continue_of IS NOT NULL)
		SELECT session, substr((SELECT user FROM turns WHERE turns.id = first), 1, ?2) FROM (
			SELECT c.session, min((SELECT min(id) FROM turns WHERE session = c.id)) AS first FROM chain c
			GROUP BY c.session)
		WHERE first IS NOT NULL`, in.sessions(), titleLength)
	return found, sqlite.While("reading first prompts", err)
}

// MentionsIn returns, for some sessions, the text around where another was said first, in letters of any case.
func (s Book) MentionsIn(ctx context.Context, sessions []int64, text string) (map[int64]string, error) {
	const before, most = 100, 300 // characters
	found, err := sqlite.Pairs[int64, string](ctx, s.db, `SELECT session, substr(said, max(1, at - ?3), ?4) FROM (
		SELECT session, iif(u > 0, user, assistant) AS said, iif(u > 0, u, a) AS at,
			row_number() OVER (PARTITION BY session ORDER BY id) AS n FROM (
			SELECT id, session, user, assistant, instr(lower(user), lower(?2)) AS u,
				instr(lower(assistant), lower(?2)) AS a FROM turns WHERE session IN (SELECT value FROM json_each(?1)))
		WHERE u > 0 OR a > 0) WHERE n = 1`, sqlite.List(sessions), text, before, most)
	return found, sqlite.While("looking for a text", err)
}

// Mentioning returns the sessions in which a text was said, by either side, in letters of any case. It reads all turns
// or, with unindexed, only those that the embedded store has not taken in.
func (s Book) Mentioning(ctx context.Context, text string, unindexed bool) (map[int64]bool, error) {
	among := "turns"
	if unindexed {
		among = `(SELECT id AS new FROM turns WHERE learned = 0 AND ended > 0
			UNION ALL SELECT id FROM turns WHERE ended = 0) CROSS JOIN turns ON id = new`
	}
	found, err := sqlite.Pairs[int64, bool](ctx, s.db, `SELECT DISTINCT session, 1 FROM `+among+`
		WHERE instr(lower(user), lower(?1)) > 0 OR instr(lower(assistant), lower(?1)) > 0`, text)
	return found, sqlite.While("looking for a text", err)
}
