package doctor

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Where nothing keeps children to their folders, doctor says so and lists the sockets that they reach.
func TestBounds(t *testing.T) {
	none := errors.New("no Landlock")
	many := slices.Repeat([]string{"/run/user/1000/bus"}, maxSockets+2)
	for name, tt := range map[string]struct {
		err       error
		unbounded bool
		sockets   []string
		status    string
		says      string
	}{
		"bounded":            {status: statusFine, says: "confined"},
		"refused":            {none, false, []string{"/run/a", "@b"}, statusProblem, "delegation is refused"},
		"what is reached":    {none, false, []string{"/run/a", "@b"}, statusProblem, "reach /run/a, @b"},
		"many":               {none, false, many, statusProblem, "and 2 more"},
		"nothing is reached": {none, false, nil, statusProblem, "no socket"},
		"as a person wants":  {none, true, []string{"/run/a"}, statusNote, "they reach /run/a"},
	} {
		got := boundsFinding(tt.err, tt.unbounded, tt.sockets)
		if len(got) != 1 || got[0].Status != tt.status || !strings.Contains(got[0].Text, tt.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
