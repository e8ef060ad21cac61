package e2e

import (
	"encoding/json"
	"slices"
	"testing"
)

// Of what a session was told show says later what its answers used.
func TestUsed(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set(`ECHOAGENT_CALL=["echo","At 1240 degrees, which is cone ten."]`, "ECHOAGENT_TERSE=1")
	ids := map[string]string{}
	for _, text := range []string{"The kiln is fired with cone ten, at 1240 degrees.",
		"The well behind the orchard is eleven metres deep."} {
		b.run(proxyBin, "memory", "add", text)
	}
	var all []struct{ ID, Content string }
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "memory", "list", "--json")), &all))
	for _, m := range all {
		ids[m.Content[:8]] = m.ID
	}
	p := b.connect()
	id := p.begin("How hot is the kiln fired, and how deep is the well behind the orchard?")
	p.end()
	var shown struct {
		Injections []struct{ Items, Used []string }
	}
	b.wait("what was used is known", func() bool {
		b.run(proxyBin, "memory", "list") // learns from what the relay had no time for
		must(b, json.Unmarshal([]byte(b.run(proxyBin, "show", id, "--json")), &shown))
		return len(shown.Injections) == 1 && len(shown.Injections[0].Used) > 0
	})
	in := shown.Injections[0]
	if !slices.Contains(in.Items, ids["The kiln"]) || !slices.Contains(in.Items, ids["The well"]) ||
		!slices.Equal(in.Used, []string{ids["The kiln"]}) {
		t.Errorf("of %v it was told %v and used %v", ids, in.Items, in.Used)
	}
}
