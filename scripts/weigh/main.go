// Command weigh counts what the code weighs, from its syntax trees: `make weigh`, in the root of the repository.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	shortFile   = 25 // lines; a file below it is a sliver
	maxBranches = 15 // of a function, as McCabe counts them
)

// onTurns finds the table in a statement. The migrations make it and are not counted.
var onTurns = regexp.MustCompile(`\b(FROM|INTO|JOIN|UPDATE|ON)\s+turns\b`)

// weight is what is counted. Product is Go that is neither a test, nor in e2e, nor in scripts.
type weight struct {
	lines, exported, updates, short, branchy, tests int
	packages, sqlOnTurns                            map[string]bool
	structs                                         map[string]*ast.StructType // of package session
}

func main() {
	w := weight{packages: map[string]bool{}, sqlOnTurns: map[string]bool{}, structs: map[string]*ast.StructType{}}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && notOurs(d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		return w.file(filepath.ToSlash(path))
	})
	if err != nil {
		log.Fatal(err)
	}
	w.print()
}

func notOurs(folder string) bool {
	return folder == "node_modules" || folder == "testdata" || len(folder) > 1 && folder[0] == '.'
}

func (w *weight) file(path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Count(string(source), "\n")
	if strings.HasSuffix(path, "_test.go") {
		w.tests += lines
		return nil
	}
	if strings.HasPrefix(path, "e2e/") || strings.HasPrefix(path, "scripts/") {
		return nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
	if err != nil {
		return err
	}
	folder := filepath.ToSlash(filepath.Dir(path))
	w.lines += lines
	w.packages[folder] = true
	if lines < shortFile {
		w.short++
	}
	for _, d := range parsed.Decls {
		w.declaration(folder, d)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && onTurns.MatchString(n.Value) && folder != "migrations" {
				w.sqlOnTurns[folder] = true
			}
		case *ast.CallExpr:
			if updates(folder, n) {
				w.updates++
			}
		}
		return true
	})
	return nil
}

// declaration counts exported names (types, functions, methods of exported types, constants, variables) and branches.
func (w *weight) declaration(folder string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			w.exported++
		}
		if branches(d) > maxBranches {
			w.branchy++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					w.exported++
				}
				if t, ok := s.Type.(*ast.StructType); ok && folder == "proxy/session" {
					w.structs[s.Name.Name] = t
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() {
						w.exported++
					}
				}
			}
		}
	}
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if g, ok := t.(*ast.IndexExpr); ok {
		t = g.X
	}
	if n, ok := t.(*ast.Ident); ok {
		return n.Name
	}
	return ""
}

// branches is McCabe's number: one, and one for each place where the way parts.
func branches(d *ast.FuncDecl) int {
	n := 1
	ast.Inspect(d, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// updates says whether a call looks at the sessions' state or changes it: Do or Await of their owner (a field talk); of
// older commits see, look or await of a conversation, and before that was one, Update of the table with one function.
func updates(folder string, c *ast.CallExpr) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || folder != "proxy" && folder != "proxy/session" {
		return false
	}
	switch s.Sel.Name {
	case "Update":
		return len(c.Args) == 1
	case "Do", "Await", "see", "look", "await":
		of, ok := s.X.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "talk"
	}
	return false
}

// fields counts the fields of a struct of package session, those of structs inside it in place of these.
func (w *weight) fields(of string) (n int) {
	for _, f := range w.structs[of].Fields.List {
		each := 1
		if name, ok := f.Type.(*ast.Ident); ok && w.structs[name.Name] != nil {
			each = w.fields(name.Name)
		}
		n += each * max(1, len(f.Names))
	}
	return n
}

func (w *weight) print() {
	for _, row := range []struct {
		what string
		n    int
	}{
		{"product lines of Go", w.lines},
		{"packages with them", len(w.packages)},
		{"exported names", w.exported},
		{"sites at the conversation", w.updates},
		{"fields of a session", w.fields("Session")},
		{fmt.Sprintf("files under %d lines", shortFile), w.short},
		{fmt.Sprintf("functions over %d branches", maxBranches), w.branchy},
		{"packages with SQL on turns", len(w.sqlOnTurns)},
		{"lines of tests", w.tests},
	} {
		fmt.Printf("%-28s %6d\n", row.what, row.n)
	}
}
