package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

// projectsNamed is how many projects an import names.
const projectsNamed = 5

// Imported says what an import did: how many came in, where they hold, and what was not believed or not changed.
func Imported(done embedded.Imported) []string {
	lines := []string{fmt.Sprintf("imported: %d added, %d updated, %d unchanged", done.Added, done.Updated,
		done.Unchanged)}
	var hold []string
	others := 0
	byCount := func(a, b string) int {
		return cmp.Or(cmp.Compare(done.Projects[b], done.Projects[a]), cmp.Compare(a, b))
	}
	for i, project := range slices.SortedFunc(maps.Keys(done.Projects), byCount) {
		switch n := done.Projects[project]; {
		case project == "":
			hold = append(hold, fmt.Sprintf("%d in no project, recalled in all", n))
		case i < projectsNamed:
			hold = append(hold, fmt.Sprintf("%d in %s", n, memory.HomeShort(project)))
		default:
			others += n
		}
	}
	if others > 0 {
		hold = append(hold, fmt.Sprintf("%d in other projects", others))
	}
	if done.Everywhere > 0 {
		hold = append(hold, fmt.Sprintf("%d everywhere", done.Everywhere))
	}
	if done.Pinned > 0 {
		hold = append(hold, fmt.Sprintf("%d of them pinned", done.Pinned))
	}
	if len(hold) > 0 {
		lines = append(lines, strings.Join(hold, "; "))
	}
	if done.Doubted > 0 {
		lines = append(lines, term.Count(done.Doubted, "line")+" marked as yours, pinned or for all projects: "+
			"imported as plain text; --trust keeps the marks")
	}
	if done.Kept > 0 {
		lines = append(lines, term.Count(done.Kept, "known memory")+" kept, although the file differs; "+
			"--replace changes it")
	}
	return lines
}
