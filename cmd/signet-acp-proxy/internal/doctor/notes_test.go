package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// It says what notes cost, and the last reason why there are none.
func TestNotesFinding(t *testing.T) {
	began := time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC)
	good, bad := correlation.Noting{Began: began, Notes: 2}, correlation.Noting{Began: began, Error: "no answer"}
	worse := correlation.Noting{Began: began.Add(time.Hour), Error: "not JSON"}
	for _, c := range []struct {
		name    string
		all     []correlation.Noting
		problem bool
		want    string
	}{
		{"none", nil, false, "none within 3 days"},
		{"good", []correlation.Noting{good}, false, "asked once, 2 kept"},
		{"one fails", []correlation.Noting{bad, good}, true, "1 note of 2 failed"},
		{"the last of them", []correlation.Noting{bad, good, worse}, true, "not JSON"},
	} {
		found := notesFinding(c.all)
		if len(found) != 1 || found[0].Status == statusProblem != c.problem || !strings.Contains(found[0].Text, c.want) {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}
