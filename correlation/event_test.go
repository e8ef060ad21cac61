package correlation

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every kind of this package is in the table, and comes back from JSON.
func TestKinds(t *testing.T) {
	var all []ast.Decl
	for _, name := range []string{"opening.go", "fold.go", "fold_turn.go"} {
		source, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, source.Decls...)
	}
	for _, d := range all {
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
		v := reflect.New(reflect.TypeOf(kind)).Elem()
		for field, n := range map[string]int64{"Session": 3, "Turn": 4} {
			if f := v.FieldByName(field); f.IsValid() {
				f.SetInt(n)
			}
		}
		if f := v.FieldByName("Context"); f.IsValid() {
			f.SetBytes([]byte("{}"))
		}
		e := v.Interface().(Event)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseEvent(name, data); err != nil || KindOf(again) != name || cmp.Diff(e, again) != "" {
			t.Errorf("%s became %+v, %v: %s", data, again, err, cmp.Diff(e, again))
		}
	}
	if e, err := ParseEvent("dreamt", []byte(`{"session":3,"turn":4}`)); err != nil ||
		e.(unknown).Session != 3 || e.(unknown).Turn != 4 {
		t.Errorf("a newer version's event is %+v, %v", e, err)
	}
	for kind, data := range map[string]string{"": "{}", "dreamt": "{", "turn_ended": "[]"} {
		if e, err := ParseEvent(kind, []byte(data)); err == nil {
			t.Errorf("%s %q is %+v", data, kind, e)
		}
	}
}
