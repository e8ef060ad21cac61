package privacy

import "testing"

func TestClean(t *testing.T) {
	key := "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for _, c := range []struct {
		name, text string
		private    []string
		want       string
	}{
		{"nothing of it", "Hello.", nil, "Hello."},
		{"all at once", "The PIN 4711-X opens " + key + " <private>mine-22</private>, mine-22.",
			[]string{"my PIN: 4711-X"},
			"The PIN [private] opens [redacted:github] , [private]."},
	} {
		if got := Clean(c.text, c.private); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
