package embedded

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Of what is removed while the index may keep words none is left behind EraseWords, also where a process was killed
// before that; what stays is found.
func TestEraseWords(t *testing.T) {
	w := newWorld(t)
	for i := range 60 {
		w.said("/p", fmt.Sprint("session-", i), fmt.Sprintf("Why does the zyxwvut%02d kiln leak?", i), "The glaze is old.")
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.LeaveWords(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone, err := sqlite.Collect(t.Context(), w.db, sqlite.One[int64], `SELECT id FROM sessions ORDER BY id LIMIT 50`)
	if err != nil || len(gone) != 50 {
		t.Fatal(gone, err)
	}
	for _, id := range gone {
		if _, err := w.journal.Forget(t.Context(), id, w.Unlearn); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time there is nothing to do
		if err := w.Erase(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var path string
	if err := w.db.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if bytes.Contains(whole, fmt.Appendf(nil, "zyxwvut%02d", i)) {
			t.Errorf("the words of session %d are still there", i)
		}
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM passages_terms WHERE term LIKE 'zyxwvut%'`:         10,
		`SELECT count(*) FROM noted WHERE kind = 'erase'`:                        0, // it is done,
		`SELECT v FROM passages_fts_config WHERE k = 'secure-delete'`:            1, // and no words stay from now on
		`SELECT count(*) FROM passages_fts WHERE passages_fts MATCH 'zyxwvut55'`: 1,
	} {
		if got, err := sqlite.One[int](w.db.QueryRow(query)); err != nil || got != want {
			t.Errorf("%s: %d, want %d, %v", query, got, want, err)
		}
	}
}
