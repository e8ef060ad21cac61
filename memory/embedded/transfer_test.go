package embedded

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// An export is read in pages: each memory and each passage once, in order.
func TestExportPages(t *testing.T) {
	w := newWorld(t)
	var lines strings.Builder
	const memories, turns = 2*exportPage + 1, exportPage
	for i := range memories {
		fmt.Fprintf(&lines, `{"content":"heron number %04d"}`+"\n", i)
	}
	if done, err := w.Import(t.Context(), strings.NewReader(lines.String())); err != nil || done.Added != memories {
		t.Fatal(done, err)
	}
	var texts []string
	for i := range turns {
		texts = append(texts,
			fmt.Sprintf("Where is kestrel %d moored now?", i), fmt.Sprintf("Kestrel %d is in Falmouth.", i))
	}
	w.said("/srv/a", "one", texts[:turns]...)
	w.said("/srv/a", "other", texts[turns:]...)
	var out strings.Builder
	n, err := w.Export(t.Context(), &out, true)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	all := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range all {
		var m Memory
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("heron number %04d", i); i < memories && m.Content != want {
			t.Fatalf("line %d is %q", i, m.Content)
		}
		ids[m.ID] = true
	}
	if n != memories+2*turns || len(all) != n || len(ids) != n {
		t.Errorf("%d exported, %d lines, %d ids; want %d", n, len(all), len(ids), memories+2*turns)
	}
}
