package guard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Where goroutines start that are not guarded, and how many.
var unguarded = map[string]int{
	"guard/guard.go":      2, // this package's own
	"proxy/relay.go":      1, // a pump, which guards what is not copying
	"upstream/process.go": 3, // the harness's start, its end, and its stderr: no work of memory's
	"cmd/signet-acp-proxy/internal/doctor/doctor.go":   1, // a command that a person runs
	"cmd/signet-acp-proxy/internal/doctor/greeting.go": 2,
	"cmd/signet-acp-proxy/internal/doctor/harness.go":  1,
	// what ends with a context: an ended process, a closed connection, a cancelled context
	"upstream/output.go":                1,
	"delegation/setup.go":               1,
	"delegation/run.go":                 2, // and a limit that does
	"delegation/conversation.go":        1,
	"delivery/dispatcher.go":            1,
	"memory/mcpserver/socket.go":        2,
	"memory/mcpserver/pipes_linux.go":   1,
	"memory/mcpserver/endpoint.go":      1,
	"memory/mcpserver/daemonsession.go": 2,
}

// Every goroutine but those starts through this package.
func TestGoroutines(t *testing.T) {
	root, found := "..", map[string]int{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		switch {
		case d.IsDir() && (rel == "e2e" || rel == "scripts" || d.Name() == "node_modules" || d.Name() == "testdata" ||
			name != root && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if starts(n) {
				found[rel]++
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range found {
		if n != unguarded[name] {
			t.Errorf("%s starts %d goroutines that are not guarded, and %d are known", name, n, unguarded[name])
		}
	}
	for name := range unguarded {
		if found[name] == 0 {
			t.Errorf("%s starts none any more", name)
		}
	}
}

// starts reports whether a node starts a goroutine: a go statement, Go of a sync.WaitGroup, which takes one argument, or
// AfterFunc with something else than guard.Func.
func starts(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		return calls(n, "Go") && len(n.Args) == 1 ||
			calls(n, "AfterFunc") && len(n.Args) == 2 && !calls(n.Args[1], "Func")
	}
	return false
}

// calls reports whether an expression is a call of a package's function, or a method, of that name.
func calls(e ast.Expr, name string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	called, ok := call.Fun.(*ast.SelectorExpr)
	return ok && called.Sel.Name == name
}
