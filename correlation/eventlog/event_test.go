package eventlog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Fields of kinds that are no text of the conversation.
var wordless = []string{"Session", "Turn", "Open", "Fork", "Continues", "From", "Event", "Reason", "Key", "Spent", "Record",
	"Parent", "Command", "Delegation", "What", "Notes", "Usage",
	"Stop", "Code", "Request", "Lost", "AgentID", "SignetPath", "URL", "Version"}

// Every kind of this package is in the table, and says by its fields whether it holds text that is forgotten with its
// session, of which session and turn it is, and how it comes back from the file.
func TestKinds(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "fold.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range source.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Name.Name != "fold" {
			continue
		}
		of := f.Recv.List[0].Type.(*ast.Ident).Name
		if of != "unknown" && !slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(k reflect.Type) bool {
			return k.Name() == of
		}) {
			t.Errorf("%s is not in the table of kinds", of)
		}
	}
	for name, kind := range kinds {
		v := reflect.New(reflect.TypeOf(kind.zero)).Elem()
		text := false
		for i := range v.NumField() {
			text = text || !slices.Contains(wordless, v.Type().Field(i).Name)
		}
		if text != kind.text {
			t.Errorf("%s holds text: %t by its fields, %t in the table", name, text, kind.text)
		}
		for field, n := range map[string]int64{"Session": 3, "Turn": 4} {
			if f := v.FieldByName(field); f.IsValid() {
				f.SetInt(n)
			}
		}
		if f := v.FieldByName("Context"); f.IsValid() {
			f.SetBytes([]byte("{}"))
		}
		e := v.Interface().(Event)
		session, turn := numbersOf(e)
		if v.FieldByName("Session").IsValid() != (session == 3) || v.FieldByName("Turn").IsValid() != (turn == 4) {
			t.Errorf("%s is of session %d and turn %d", name, session, turn)
		}
		line, err := appendLine(nil, time.UnixMilli(5), e)
		if err != nil {
			t.Error(err)
			continue
		}
		l, err := parse(line[:len(line)-1])
		if err != nil || l.at.UnixMilli() != 5 || kindOf(l.event) != name || cmp.Diff(e, l.event) != "" {
			t.Errorf("%s became %+v, %v: %s", line, l.event, err, cmp.Diff(e, l.event))
		}
	}
}

// What a line holds comes back, whatever it is.
func TestLines(t *testing.T) {
	for _, e := range []Event{
		Said{Turn: 1, Text: "<b> \u2028 \x00 \"quoted\" \n 日本"},
		ToolUsed{Turn: 1, Tool: correlation.ToolCall{ID: "1", Kind: "read", Locations: []string{"/x"}}},
		Injected{Session: 1, Injection: correlation.Injection{Kind: "context", Text: "x"}},
		Opened{Session: 1, Open: correlation.OpenSession{Harness: "h", ACPID: "s", New: true}, Fork: 2},
		Stepped{Session: 1, From: []correlation.State{correlation.Armed},
			Event: correlation.Event{Name: correlation.NothingToTell}},
	} {
		text, err := appendLine(nil, time.UnixMilli(5), e)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := parse(text[:len(text)-1]); err != nil || cmp.Diff(e, l.event) != "" {
			t.Errorf("%s: %v %s", text, err, cmp.Diff(e, l.event))
		}
	}
}

// No bytes that stand in a file do harm.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"at":1,"kind":"turn_ended","turn":1,"stop":"end_turn"}`,
		`{"at":1,"kind":"dreamt","session":"x"}`, `{"kind":"assistant_said","text":5}`, "null", "[]", "{}", "\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parse(text)
		if err != nil {
			return
		}
		session, turn := numbersOf(l.event)
		concerns(l.event, map[int]bool{session: true}, map[int]bool{turn: true})
		if _, isUnknown := l.event.(unknown); isUnknown {
			return
		}
		if _, err := appendLine(nil, l.at, l.event); err != nil {
			t.Errorf("%q was read and cannot be written: %v", text, err)
		}
	})
}
