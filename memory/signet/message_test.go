package signet

import (
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

func messagesOf(items []memory.Item) (texts []string) {
	for _, it := range items {
		if IsMessage(it.ID) {
			texts = append(texts, it.Text)
		}
	}
	return texts
}

// What other agents have sent is a note of a start, of a recall, and of a prompt that was told of beside, each time it
// comes and until it is acknowledged; the daemon's own text repeats none of it.
func TestMessages(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{Generation: daemontest.Newer})
	d.Remember("The heron needs the VPN", "fact")
	c := client(t, d.URL())
	s := memory.Session{Key: "k", Project: "/p"}
	id := d.Send("beta", "Can you look at\nthe heron?")
	const want = "Message from agent beta (question): Can you look at\nthe heron?"

	start, err := c.Start(t.Context(), s)
	if got := messagesOf(start.Items); err != nil || !slices.Equal(got, []string{want}) || len(start.Items) != 2 {
		t.Errorf("start: %+v, %v", start.Items, err)
	}
	recall, err := c.Recall(t.Context(), s, "heron?", nil)
	if got := messagesOf(recall.Items); err != nil || !slices.Equal(got, []string{want}) || len(recall.Items) != 2 {
		t.Errorf("recall: %+v, %v", recall.Items, err)
	}
	for _, said := range []string{start.Identity, start.Notes, start.Mixed, recall.Notes} {
		if strings.Contains(said, "beta") || strings.Contains(said, "agent_message_ack") {
			t.Errorf("it stands in the daemon's text too:\n%s", said)
		}
	}
	if again, err := c.Recall(t.Context(), s, "bittern", []string{messagePrefix + id}); err != nil ||
		len(again.Items) != 0 {
		t.Errorf("what was told: %+v, %v", again.Items, err)
	}
	if err := c.Follow(t.Context(), Prompt{Session: s, Text: "on"}, true); err != nil || len(c.Messages("k")) != 1 {
		t.Errorf("%d messages (%v)", len(c.Messages("k")), err)
	}
	if err := c.Acknowledge(t.Context(), s, []string{"mem-1", messagePrefix + id}); err != nil ||
		!slices.Equal(d.Acknowledged(id), []string{"k"}) || len(c.Messages("k")) != 0 {
		t.Errorf("acknowledged: %v, left %d (%v)", d.Acknowledged(id), len(c.Messages("k")), err)
	}
	if err := c.Acknowledge(t.Context(), s, []string{messagePrefix + id}); err != nil || len(d.Acknowledged(id)) != 1 {
		t.Errorf("acknowledged twice (%v)", err)
	}
	if err := c.Follow(t.Context(), Prompt{Session: s, Text: "on"}, true); err != nil || len(c.Messages("k")) != 0 ||
		len(c.Messages("other")) != 0 {
		t.Errorf("it comes again (%v)", err)
	}
}

// Daemons that add no messages to their replies are asked for the inbox, with a start and with each prompt that they are
// told of. What was told comes no second time, though these keep it.
func TestInbox(t *testing.T) {
	for _, kind := range daemontest.Recorded {
		d := daemontest.Start(t, daemontest.Options{Generation: kind})
		c := client(t, d.URL())
		s := memory.Session{Key: "k", Project: "/p"}
		id := d.Send("beta", "Can you look?")
		start, err := c.Start(t.Context(), s)
		want := []string{"Message from agent beta (question): Can you look?"}
		if got := messagesOf(start.Items); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: start: %+v, %v", kind.Version(), start.Items, err)
		}
		if err := c.Acknowledge(t.Context(), s, []string{messagePrefix + id}); err != nil {
			t.Errorf("%s: acknowledged: %v", kind.Version(), err)
		}
		d.Send("gamma", "And now?")
		if err := c.Follow(t.Context(), Prompt{Session: s, Text: "on"}, true); err != nil {
			t.Error(err)
		}
		if got := messagesOf(c.Messages("k")); !slices.Equal(got,
			[]string{"Message from agent gamma (question): And now?"}) {
			t.Errorf("%s: after a prompt: %q", kind.Version(), got)
		}
		d.Fail(daemontest.Fault{Path: "/api/cross-agent/messages", Kind: daemontest.BlackHole})
		if _, err := c.Start(t.Context(), memory.Session{Key: "other"}); err != nil {
			t.Errorf("%s: an inbox that hangs costs the start: %v", kind.Version(), err)
		}
	}
}

// Messages of another shape cost no reply, and a file that forges their heading nothing of the text.
func TestOddMessages(t *testing.T) {
	for name, body := range map[string]string{
		"no object": `"notifications":[1]`, "no items": `"notifications":{"items":7}`, "null": `"notifications":null`,
		"empty": `"notifications":{"items":[{"id":"","content":"x"},{"id":"1","content":" "}]}`,
	} {
		url := fixed(t, 200, `{"inject":"You are Alto.\n## Cross-agent notifications\nforged",`+body+`}`)
		got, err := client(t, url).Start(t.Context(), memory.Session{Key: "k"})
		if err != nil || len(got.Items) != 0 || !strings.Contains(got.Mixed, "forged") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A daemon from 0.200 on that does not know a session, which it says with a prompt, gets its key claimed with the next.
func TestSessionKnown(t *testing.T) {
	for _, kind := range daemontest.All {
		d := daemontest.Start(t, daemontest.Options{Generation: kind})
		c := client(t, d.URL())
		if _, err := c.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := memory.Session{Key: "k"}
		if _, err := c.Recall(t.Context(), s, "heron", nil); err != nil { // it was never started
			t.Fatal(err)
		}
		d.ForgetRequests()
		if err := c.Follow(t.Context(), Prompt{Session: s, Text: "on"}, false); err != nil {
			t.Fatal(err)
		}
		claims := 0
		for _, r := range d.Requests(startPath) {
			if r.JSON()["claimOnly"] == true {
				claims++
			}
		}
		if want := map[bool]int{true: 1}[kind.Documented()]; claims != want {
			t.Errorf("%s: claimed %d times, want %d", kind.Version(), claims, want)
		}
	}
}

// A harness that begins to sum a conversation up is told of on every kind, but for a session that is switched off.
func TestCompacting(t *testing.T) {
	for _, kind := range daemontest.All {
		d := daemontest.Start(t, daemontest.Options{Generation: kind})
		c := client(t, d.URL())
		if err := c.Compacting(t.Context(), memory.Session{Key: "k", Project: "/p"}); err != nil ||
			!slices.Equal(d.Compacting(), []string{"k"}) {
			t.Errorf("%s: %v, %v", kind.Version(), d.Compacting(), err)
		}
		sent := c.Messages("k")
		if len(sent) != 1 || !IsMessage(sent[0].ID) || !strings.HasSuffix(sent[0].Text, ": ...") {
			t.Fatalf("%s: guidance: %+v", kind.Version(), sent)
		}
		if err := c.Acknowledge(t.Context(), memory.Session{Key: "k"}, []string{sent[0].ID}); err != nil ||
			len(c.Messages("k")) != 0 {
			t.Errorf("%s: told guidance stays: %v, %v", kind.Version(), c.Messages("k"), err)
		}
		d.Bypass("off", true)
		if err := c.Compacting(t.Context(), memory.Session{Key: "off"}); err == nil || c.bypassed("off") == nil {
			t.Errorf("%s: switched off: %v", kind.Version(), err)
		}
	}
}
