package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

func (w *world) add(m Memory) Memory {
	w.t.Helper()
	stored, _, err := w.Add(w.t.Context(), m)
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

func (w *world) search(text string) []Memory {
	w.t.Helper()
	found, err := w.Search(w.t.Context(), Query{Text: text, AllProjects: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// stored reports whether the database holds a text in any table that is searched or learned from.
func (w *world) stored(text string) bool {
	w.t.Helper()
	var n int
	err := w.db.QueryRow(`SELECT (SELECT count(*) FROM turns WHERE instr(user, ?1) OR instr(assistant, ?1))
		+ (SELECT count(*) FROM memories WHERE instr(content, ?1) OR instr(context, ?1))
		+ (SELECT count(*) FROM passages WHERE instr(content, ?1)) + (SELECT count(*) FROM passages_fts_content
		WHERE instr(c0, lower(?1)))`, text).Scan(&n)
	if err != nil {
		w.t.Fatal(err)
	}
	return n > 0
}

func TestAddTwice(t *testing.T) {
	w := newWorld(t)
	first := w.add(Memory{Content: "The office door code is on the fridge.", Tags: "office"})
	w.now = w.now.Add(time.Hour)
	again, added, err := w.Add(t.Context(), Memory{Content: "the office door code is on the  fridge", Importance: 0.9})
	if err != nil || added || again.ID != first.ID || again.Importance != 0.9 || again.Tags != "office" ||
		!again.Updated.Equal(w.now) {
		t.Errorf("stored again as %+v (new: %v), %v", again, added, err)
	}
	if _, added, err := w.Add(t.Context(), Memory{Content: first.Content, Project: "/p"}); err != nil || !added {
		t.Errorf("the same in another project is another memory: new %v, %v", added, err)
	}
}

// An importance of 0 is one.
func TestImportance(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		given   float64
		weighed bool
		want    float64
		err     error
	}{{0, false, 0.5, nil}, {0, true, 0, nil}, {0, false, 0, nil}, {0.7, false, 0.7, nil}, {1, true, 1, nil}, {1.1,
		false, 0, errImportance}, {-0.1, true, 0, errImportance}, {math.NaN(), true, 0, errImportance}} {
		m, _, err := w.Add(t.Context(), Memory{Content: "Something that matters",
			Importance: c.given, ImportanceSet: c.weighed})
		if !errors.Is(err, c.err) || err == nil && m.Importance != c.want {
			t.Errorf("%v (%v): stored with %v, %v; want %v, %v", c.given, c.weighed, m.Importance, err, c.want, c.err)
		}
	}
	zero, id := 0.0, w.all()[0].ID
	if m, err := w.Modify(t.Context(), id, Change{Importance: &zero}); err != nil || m.Importance != 0 {
		t.Errorf("changed to %v, %v", m.Importance, err)
	}
	tags := "x"
	if m, err := w.Modify(t.Context(), id, Change{Tags: &tags}); err != nil || m.Importance != 0 {
		t.Errorf("%v after another change, %v", m.Importance, err)
	}
	other := newWorld(t)
	if _, err := other.Import(t.Context(),
		strings.NewReader(w.export()+`{"content":"not weighed"}`+"\n"), trusted); err != nil ||
		!strings.HasPrefix(other.export(), w.export()) || other.all()[0].Importance != 0.5 {
		t.Errorf("%v, imported\n%s", err, other.export())
	}
	if _, err := other.Import(t.Context(),
		strings.NewReader(`{"content":"x","importance":2}`), trusted); !errors.Is(err, errImportance) {
		t.Errorf("an importance of 2: %v", err)
	}
}

func TestAddRefuses(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]error{
		"":                                   ErrEmpty,
		" \n":                                ErrEmpty,
		"<private>all of it</private>":       ErrEmpty,
		strings.Repeat("x", MaxContent+1):    ErrTooLong,
		"fine <private>canary-1b4</private>": nil,
	} {
		if _, _, err := w.Add(t.Context(), Memory{Content: text}); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", text, err, want)
		}
	}
	for range 2 { // stored, and stored again
		m := w.add(Memory{Content: "labelled",
			Tags: "a,<private>canary-1b4</private>b,ghp_" +
				"16C7e42F292c6912E7710c838347Ae178B4a", Type: "fact<private>canary-1b4"})
		if m.Tags != "a,b,[redacted:github]" || m.Type != "fact" {
			t.Errorf("stored with tags %q and type %q", m.Tags, m.Type)
		}
	}
	if w.stored("canary-1b4") {
		t.Error("a private passage was stored")
	}
}

func TestGetByPrefix(t *testing.T) {
	w := newWorld(t)
	m := w.add(Memory{Content: "One thing to know"})
	for id, want := range map[string]error{m.ID: nil, strings.ToUpper(m.ID): nil, m.ID[:20]: nil, "zzzz": ErrNotFound,
		"": ErrNotFound, "%": ErrNotFound} {
		got, err := w.Get(t.Context(), id)
		if !errors.Is(err, want) || want == nil && got.ID != m.ID {
			t.Errorf("%q: %v, want %v", id, err, want)
		}
	}
	begin := m.ID[:1] // the rest of an id is random
	for n := 0; ; n++ {
		if other := w.add(Memory{Content: fmt.Sprintf("Thing %d to know", n)}); strings.HasPrefix(other.ID, begin) {
			break
		}
	}
	if _, err := w.Get(t.Context(), begin); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("an id that two begin with: %v", err)
	}
}

func TestModifyIsNotLearnedBack(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "s", "Remember that the release train leaves on Tuesday mornings.", "ok")
	m := w.search("release train")[0]
	text := "The release train leaves on Wednesday mornings."
	if _, err := w.Modify(t.Context(), m.ID, Change{Content: &text}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.Exec(`UPDATE turns SET learned = 0`); err != nil {
		t.Fatal(err)
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := w.search("release train")
	if len(found) != 1 || found[0].Content != text || found[0].ID != m.ID {
		t.Errorf("found %+v", found)
	}
}

func TestForget(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "s", "Hi. Remember that the vault lives in room **Heron-42**.\n\nAlso, we deploy on Fridays, "+
		"never on "+"Mondays.",
		"Noted: the vault lives in room Heron-42.\n\nI also added the deploy rule to `CONTRIBUTING.md`.")
	w.said("/p", "s2", "Is it still true that the vault lives in room Heron-42?",
		"Yes, the vault lives in room Heron-42, as `docs/rooms.md` says.")
	found := w.search("vault room")
	if len(found) == 0 {
		t.Fatal("nothing learned")
	}
	about := func(m Memory) bool { return strings.Contains(m.Content, "Heron") }
	for found = slices.DeleteFunc(found, func(m Memory) bool { return !about(m) }); len(found) > 0; {
		if err := w.Forget(t.Context(), found[0].ID); err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(w.search("vault room"), func(m Memory) bool { return !about(m) })
	}
	if w.stored("Heron-42") {
		rows, _ := sqlite.Collect(t.Context(), w.db, sqlite.One[string],
			`SELECT user || ' ## ' || assistant FROM turns UNION ALL SELECT content || ' ## ' || context
				FROM memories UNION ALL SELECT content FROM passages`)
		t.Errorf("still stored:\n%s", strings.Join(rows, "\n"))
	}
	if _, err := w.db.Exec(`UPDATE turns SET learned = 0`); err != nil {
		t.Fatal(err)
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.search("Where is the vault, in which room?"); slices.ContainsFunc(got, about) {
		t.Errorf("learned again: %+v", got)
	}
	if got := w.recall(memory.Session{Key: "new", Project: "/p"},
		"Do we deploy on Fridays or on Mondays?"); !strings.Contains(got, "Fridays") {
		t.Errorf("what else the turn said is gone: %q; there is %+v", got, w.all())
	}
	if err := w.Forget(t.Context(), "nothing"); !errors.Is(err, ErrNotFound) {
		t.Errorf("forgetting what is not there: %v", err)
	}
}

// What is like a forgotten memory and says something else stays.
// What came in one way is forgotten where it was said, also in conversations, and is not learned again.
func TestRemoveAll(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "a", "read this, please:\n\n> The heron nests on pier nine.\n> It is grey.\n\nThe teal is mine.",
		"The heron nests on pier nine, I see.\n\nThe plover is not there.")
	w.said("/q", "b", "The teal is mine.", "Fine.")
	gone := func(who memory.Who, project string) {
		t.Helper()
		list, err := w.List(t.Context(), Filter{From: who, Project: project, Said: true, Limit: 100})
		if err == nil {
			err = w.RemoveAll(t.Context(), list)
		}
		if err == nil {
			err = w.Learn(t.Context())
		}
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %d, %v", who, len(list), err)
		}
	}
	gone(memory.Quoted, "")
	for text, there := range map[string]bool{"It is grey": false, "I see": true, "The teal is mine": true} {
		if w.stored(text) != there {
			t.Errorf("without what was quoted, %q is there: %v", text, !there)
		}
	}
	gone(memory.Agent, "/p")
	gone(memory.Typed, "/p")
	for text, there := range map[string]bool{"plover": false, "I see": false, "Fine": true, "The teal is mine": true} {
		if w.stored(text) != there {
			t.Errorf("without what the agent and the person said in a project, %q is there: %v", text, !there)
		}
	}
	found := w.search("teal")
	if len(found) == 0 || slices.ContainsFunc(found, func(m Memory) bool { return m.Project != "/q" }) {
		t.Errorf("the teal is found in %+v", found)
	}
}

func TestForgetLeavesOthers(t *testing.T) {
	for _, c := range []struct{ forget, keep string }{
		{"We use Postgres 16 for the billing service", "We use Postgres 16 for the invoicing service"},
		{"The old server is called heron", "The new server is called heron"},
	} {
		w := newWorld(t)
		w.said("/p", "s", "Remember: "+c.keep+".", "Noted.")
		m := w.add(Memory{Content: c.forget, Project: "/p"})
		kept := w.add(Memory{Content: c.keep, Project: "/p"})
		w.add(Memory{Content: c.forget, Project: "/other"})
		if err := w.Forget(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Get(t.Context(), kept.ID); err != nil {
			t.Errorf("forgetting %q took %q: %v", c.forget, c.keep, err)
		}
		if n := len(w.all()); n != 3 { // what was stored, what was learned, and the other project's
			t.Errorf("%q: %d memories are left, want 3: %+v", c.forget, n, w.all())
		}
	}
}

func TestForgottenLeavesTheIndex(t *testing.T) {
	w := newWorld(t)
	m := w.add(Memory{Content: "The zirconium badge opens gate four."})
	if err := w.Forget(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	var file string
	if err := w.db.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("zirconium")) {
			t.Errorf("%s still holds a word of it", name)
		}
	}
}

func TestUnlearn(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "s", "Remember that the printer is called Gutenberg.", "ok")
	session, err := w.journal.Book().Resolve(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.journal.Forget(t.Context(), session.ID, w.Unlearn); err != nil {
		t.Fatal(err)
	}
	if got := w.search("printer called"); len(got) != 0 {
		t.Errorf("found %+v", got)
	}
}

func TestExportImport(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "s", "We use Kestrel for <b>metrics</b> \u2028 because \"it\" is small.",
		"Done: `kestrel.yml` has port 9100.")
	w.add(Memory{Content: "Ümläute, 絵文字 🎉 and a\nnew line", Tags: "a,b", Personal: true, Importance: 0.3})
	if _, err := w.Feedback(t.Context(), map[string]float64{w.all()[0].ID: 0.3}); err != nil {
		t.Fatal(err)
	}
	first := w.export()
	other := newWorld(t)
	done, err := other.Import(t.Context(), strings.NewReader(first), trusted)
	if err != nil || done.Added != len(w.all()) {
		t.Fatalf("%+v, %v", done, err)
	}
	if second := other.export(); second != first {
		t.Errorf("exported\n%s\nand after the import\n%s", first, second)
	}
	if done, err = other.Import(t.Context(), strings.NewReader(first), trusted); err != nil || done.Unchanged != len(w.all()) ||
		done.Added+done.Updated > 0 {
		t.Errorf("again: %+v, %v", done, err)
	}
}

func (w *world) all() []Memory {
	w.t.Helper()
	all, err := w.List(w.t.Context(), Filter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) export() string {
	w.t.Helper()
	var out strings.Builder
	if _, err := w.Export(w.t.Context(), &out, false); err != nil {
		w.t.Fatal(err)
	}
	return out.String()
}

func TestImportAllOrNothing(t *testing.T) {
	for name, line := range map[string]string{
		"no JSON": "{", "no object": `"text"`, "no content": `{"id":"x"}`, "empty": `{"content":" "}`,
		"wrong type": `{"content":7}`,
		"too long":   `{"content":"` + strings.Repeat("x", MaxContent+1) + `"}`,
		"endless":    strings.Repeat("x", longestLine+1),
	} {
		w := newWorld(t)
		if _, err := w.Import(t.Context(), strings.NewReader(`{"content":"first"}`+"\n\n"+line+"\n"), trusted); err == nil ||
			!strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(w.all()); n != 0 {
			t.Errorf("%s: %d memories came in", name, n)
		}
	}
	w := newWorld(t)
	if done, err := w.Import(t.Context(),
		strings.NewReader("\ufeff{\"content\":\"by hand\"}\r\n"), trusted); err != nil || done.Added != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

// Ids come in in lower case, and a memory without the time of a change was changed last when it was made.
func TestImportedFields(t *testing.T) {
	w := newWorld(t)
	id, made, changed := newID(), "2024-05-06T07:08:09Z", "2025-01-02T03:04:05Z"
	lines := `{"id":"` + strings.ToUpper(id) + `","content":"one","created":"` + made + `"}` + "\n" +
		`{"content":"two","created":"` + made + `","updated":"` + changed + `"}` + "\n"
	if _, err := w.Import(t.Context(), strings.NewReader(lines), trusted); err != nil {
		t.Fatal(err)
	}
	for _, m := range w.all() {
		want := map[string]string{"one": made, "two": changed}[m.Content]
		if got := m.Updated.Format(time.RFC3339); got != want || m.Content == "one" && m.ID != id {
			t.Errorf("%s: changed at %s, want %s; id %s", m.Content, got, want, m.ID)
		}
	}
}

// However many turns there are, a passage is read by seeking.
func TestPassagesAreSought(t *testing.T) {
	w := newWorld(t)
	plan, err := sqlite.Collect(t.Context(), w.db, func(row sqlite.Row) (step string, err error) {
		var id, parent, unused int
		err = row.Scan(&id, &parent, &unused, &step)
		return step, err
	}, `EXPLAIN QUERY PLAN SELECT `+passageColumns+` FROM passages p `+passageJoins+` WHERE p.uid = 'x'`)
	if err != nil || len(plan) == 0 {
		t.Fatalf("%q, %v", plan, err)
	}
	for _, step := range plan {
		if strings.HasPrefix(step, "SCAN") || strings.HasPrefix(step, "MATERIALIZE") {
			t.Errorf("it reads whole tables: %s", step)
		}
	}
}

// An import of any length needs the memory of one line.
func TestImportIsFlat(t *testing.T) {
	w := newWorld(t)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const lines = 20_000
	line := `{"content":"` + strings.Repeat("a long line ", 80) + `"}` + "\n"
	var before, after uint64
	in := io.MultiReader(strings.NewReader(line), call(func() { before = heap() }),
		io.LimitReader(&endless{line: line}, int64(lines*len(line))), call(func() { after = heap() }),
		strings.NewReader("this is the end, and no memory"))
	if _, err := w.Import(t.Context(), in, trusted); err == nil || !strings.Contains(err.Error(), fmt.Sprint("line ", lines+2)) {
		t.Errorf("the last line was taken: %v", err)
	}
	if most := uint64(lines * len(line) / 10); after > before+most {
		t.Errorf("%d lines took %d bytes of memory", lines, after-before)
	}
	if all := w.all(); len(all) > 0 {
		t.Errorf("%d memories came in", len(all))
	}
}

// endless returns a line again and again.
type endless struct {
	line string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.at:])
	e.at = (e.at + n) % len(e.line)
	return n, nil
}

// call is a reader of nothing that calls a function.
type call func()

func (f call) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func TestFeedback(t *testing.T) {
	w := newWorld(t)
	m := w.add(Memory{Content: "Something to rate"})
	for _, r := range []float64{1, -1, 0.6} {
		if unknown, err := w.Feedback(t.Context(), map[string]float64{m.ID: r, "nobody": 1}); err != nil ||
			fmt.Sprint(unknown) != "[nobody]" {
			t.Fatalf("%v, %v", unknown, err)
		}
	}
	if got, _ := w.Get(t.Context(), m.ID); got.Ratings != 3 || got.Rating < 0.19 || got.Rating > 0.21 {
		t.Errorf("rated %v by %d", got.Rating, got.Ratings)
	}
	if _, err := w.Feedback(t.Context(), map[string]float64{m.ID: 2}); err == nil {
		t.Error("a rating of 2 was taken")
	}
}

// Two processes may learn at once: nothing is learned twice.
func TestLearnAtOnce(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		if _, err := w.db.Exec(`INSERT OR IGNORE INTO sessions (id, harness, acp_id, key, state, started, last_active)
			VALUES (1, 'h', 'a', 'k', 'done', 1, 1)`); err != nil {
			t.Fatal(err)
		}
		if _, err := w.db.Exec(`INSERT INTO turns (session, key, process, started, ended, user)
			VALUES (1, 'k', 'p', 1, 2, ?)`, fmt.Sprintf("Remember that shelf %d holds the box number %d.", i,
			1000+i)); err != nil {
			t.Fatal(err)
		}
	}
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() { errs <- New(w.db, Options{}).Learn(context.Background()) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(w.all()); n != 40 {
		t.Errorf("%d memories of 40 turns", n)
	}
}
