//go:build unix

package bounds

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A relay takes the place that it was given from its environment; what cannot be read is no place.
func TestTake(t *testing.T) {
	whole := Place{Tree: "/tree", Edit: true, Reads: []string{"/objects"}, State: "/own"}
	_, text, _ := strings.Cut(whole.Environment(), "=")
	for name, tt := range map[string]struct {
		text    string
		want    Place
		ok, bad bool
	}{
		"none":             {"", Place{}, false, false},
		"one":              {text, whole, true, false},
		"no JSON":          {"{", Place{}, true, true},
		"a relative tree":  {`{"tree":"tree","state":"/own"}`, Place{Tree: "tree", State: "/own"}, true, true},
		"a relative state": {`{"tree":"/tree","state":"own"}`, Place{Tree: "/tree", State: "own"}, true, true},
	} {
		t.Setenv(placeVariable, tt.text)
		p, ok, err := Take()
		if diff := cmp.Diff(tt.want, p); diff != "" || ok != tt.ok || (err != nil) != tt.bad {
			t.Errorf("%s: %v, %v (-want +got):\n%s", name, ok, err, diff)
		}
		if left := os.Getenv(placeVariable); left != "" {
			t.Errorf("%s: %q is left", name, left)
		}
	}
}

// Our program becomes the command with the rules in its environment, and refuses what it cannot read.
func TestAround(t *testing.T) {
	rules := Rules{Read: []string{"/usr"}, Write: []string{"/own"}}
	command, env, err := rules.Around("/bin/agent", []string{"agent", "--acp"}, []string{"A=b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{Word, "/bin/agent", "agent", "--acp"}, command[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var got Rules
	name, text, _ := strings.Cut(env[1], "=")
	if err := json.Unmarshal([]byte(text), &got); err != nil || name != rulesVariable || env[0] != "A=b" || len(env) != 2 {
		t.Errorf("%q, %v", env, err)
	}
	rules.Outside = outside()
	if diff := cmp.Diff(rules, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	t.Setenv(rulesVariable, "{")
	for want, args := range map[string][]string{"no command": {"/none"}, "cannot be read": {"/none", "none"}} {
		if err := Launch(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
