package view_test

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/view"
	"github.com/Signet-AI/signet-acp-proxy/view/viewtest"
)

// Of 100,000 sessions a page has the newest, and says how many there are.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	src := source(t, viewtest.Sample{})
	const all = 100_000
	exec(t, src.DB, `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
		INSERT INTO sessions (id, harness, acp_id, key, cwd, project, state, started, last_active)
		SELECT i + 1, 'codex', 'session-' || i, 'key-' || i, '/p', '/p/' || (i % 100), 'done',
			1760000000000 + i * 60000, 1760000000000 + i * 60000 FROM n`, all)
	exec(t, src.DB, `INSERT INTO turns (session, key, process, started, ended, stop, learned, user, assistant)
		SELECT id, key, 'p', started, started + 1000, 'end_turn', 1, 'What is ' || id || '?', 'It is ' || id || '.'
		FROM sessions`)
	exec(t, src.DB, `INSERT INTO usage (session, turn, at, reporter, input, output, raw)
		SELECT session, id, started, 'result', 10, 1, '{}' FROM turns`)
	p, err := view.Read(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if p.AllSessions != all || len(p.Listed) != 10_000 || p.Turns != 10_000 || len(p.Timeline.Lanes) != 8 {
		t.Errorf("%d of %d sessions, %d turns, %d lanes", len(p.Listed), p.AllSessions, p.Turns, len(p.Timeline.Lanes))
	}
	row := p.Usage.Tables[0].Rows[0]
	if row.Sessions != "100,000" || row.Input != "1,000,000" || row.Output != "100,000" {
		t.Errorf("usage: %+v", row)
	}
	var page strings.Builder
	if err := p.Write(&page); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 16<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
}
