package memory

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What the relay links must stay small: no HTTP client, no database.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skip("go list:", err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if dep == "net/http" || dep == "database/sql" || dep == "net" || strings.Contains(dep, "sqlite") {
			t.Errorf("memory depends on %s", dep)
		}
	}
}

// A context is stored by one process and read by the next, which may be of another version.
func TestContextJSON(t *testing.T) {
	want := Context{
		Source: FromDaemon, Version: "0.58.1", Identity: "i", Notes: "n", Mixed: "m", KeySpent: true,
		Items: []Item{{ID: "1", Text: "t", Project: "/p", Origin: "user", Date: day("2026-10-03"),
			Score: 0.5}, {Text: "u"}},
		Fetched: day("2026-11-04"), Took: 1500 * time.Millisecond,
	}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const stored = `{"source":"daemon","version":"0.58.1","identity":"i","notes":"n","mixed":"m",` +
		`"items":[{"id":"1","text":"t","project":"/p","origin":"user","date":"2026-10-03T00:00:00Z","score":0.5},{"text":"u"}],` +
		`"fetched":"2026-11-04T00:00:00Z","took":1500000000,"keySpent":true}`
	if diff := cmp.Diff(stored, string(raw)); diff != "" {
		t.Error(diff)
	}
	var got Context
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
