package correlation_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// All statements on sessions and what belongs to them stand in this package, so that a change of a table is a change
// here. Package migrations makes the tables, and tests fill them as they like.
func TestOneRoomWithSQL(t *testing.T) {
	ours := regexp.MustCompile(`\b(FROM|INTO|JOIN|UPDATE|ON|TABLE)\s+(processes|sessions|attachments|session_keys|` +
		`injections|turns|debts|events|usage|forgotten|handoffs)\b`)
	statements := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		folder := filepath.ToSlash(filepath.Dir(path))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"),
			strings.HasSuffix(folder, "test"), folder == "../migrations",
			folder == "../memory/backfill": // the tables there are other programs'
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				for _, found := range ours.FindAllString(text.Value, -1) {
					if statements++; folder != "../correlation" {
						t.Errorf("%s: %s", path, found)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil || statements < 100 {
		t.Errorf("%d statements were looked at, %v", statements, err)
	}
}
