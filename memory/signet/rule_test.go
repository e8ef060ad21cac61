package signet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What the memories and warnings of a start's reply come to.
func TestStartParts(t *testing.T) {
	r := startReply{Warnings: []json.RawMessage{json.RawMessage(`"one\n line"`), json.RawMessage(`{"message":"two"}`),
		json.RawMessage(`7`), json.RawMessage(`{}`), json.RawMessage(`"` + strings.Repeat("x", 300) + `"`)}}
	if diff := cmp.Diff([]string{"one line", "two", strings.Repeat("x", 200)}, r.warnings()); diff != "" {
		t.Error(diff)
	}
	r.Warnings = slices.Repeat(r.Warnings[:1], maxWarnings+1)
	if got := r.warnings(); len(got) != maxWarnings {
		t.Errorf("%d warnings", len(got))
	}
	r.Memories = append([]startMemory{{ID: "0", Content: " "}, {ID: strings.Repeat("i", 200), Content: "a\r\nb",
		CreatedAt: "2026-01-02T03:04:05Z"}}, slices.Repeat([]startMemory{{ID: "2", Content: strings.Repeat("x", maxMemory+1)}},
		maxMemories)...)
	got := r.items()
	if len(got) != maxMemories || len(got[0].ID) != 128 || got[0].Text != "a\nb" || got[0].Date.Year() != 2026 ||
		len(got[1].Text) != maxMemory {
		t.Errorf("%d items, the first %+v", len(got), got[0])
	}
}

// Which replies are those that a second start gets.
func TestStub(t *testing.T) {
	const status = "[memory active | /remember]"
	for _, c := range []struct {
		reply string
		want  bool
	}{
		{`{"deduped":true}`, true}, {`{}`, false}, {`{"identity":{"name":"Agent"},"inject":"` + status + `"}`, true},
		{`{"identity":{},"inject":"` + status + `"}`, true}, {`{"identity":{"name":"Alto"},"inject":"` + status + `"}`, false},
		{`{"identity":{"name":"Agent","description":"x"},"inject":"` + status + `"}`, false},
		{`{"identity":{"name":"Agent"},"memories":[{"id":"1"}],"inject":"` + status + `"}`, false},
		{`{"identity":{"name":"Agent"},"inject":"` + status + `\nYou are Alto."}`, false},
		{`{"identity":{"name":"Agent"},"inject":" "}`, false}, {`{"identity":{"name":"Agent"}}`, false},
		{`{"identity":{"name":"Agent"},"inject":"words","dynamicContext":"` + status + `"}`, true},
		{`{"identity":{"name":"Agent"},"inject":"[signet active]\nnotes\n` + status + `"}`, true},
	} {
		var r startReply
		if err := json.Unmarshal([]byte(c.reply), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.stub(); got != c.want {
			t.Errorf("%s: %v", c.reply, got)
		}
	}
}

// Notes on tools are cut off a start's text only where they begin it and end before a status line.
func TestCutToolNotes(t *testing.T) {
	for _, c := range []struct{ text, notes, rest string }{
		{"[signet active]\nx\n[memory active | a]\ny", "[signet active]\nx\n", "[memory active | a]\ny"},
		{"\n <signet-memory>\n[signet active]\r\nx\n  [memory active]", "[signet active]\nx\n", "  [memory active]"},
		{"[signet active]\nx", "", "[signet active]\nx"}, {"Hi [signet active]\n[memory active", "", "Hi [signet active]\n[memory active"},
		{"[memory active]", "", "[memory active]"}, {"", "", ""},
	} {
		if notes, rest := cutToolNotes(c.text); notes != c.notes || rest != c.rest {
			t.Errorf("%q: %q, %q", c.text, notes, rest)
		}
	}
}

// The list of memories is cut out of a text where it says items that are there already; a file that forges the heading
// stays.
func TestCutMemories(t *testing.T) {
	const head = "## Relevant Memories (auto-loaded | x)\n"
	items := []memory.Item{{Text: "Robin  rows"}, {Text: "two"}}
	for _, c := range []struct{ text, want string }{
		{"a\n" + head + "- Robin rows\n- two [tag, b] (Nov 1, 2026)\nb", "a\nb"}, {head + "\n\n- two (Nov 1, 2026)\n", ""},
		{"a\n" + head + "b\n- two", "a\n" + head + "b\n- two"}, {"- two", "- two"}, {head + "- three", head + "- three"},
		{head + "- two\n- three", "- three"}, {head + "- two [tag] x", head + "- two [tag] x"}, {head + "- [two]", head + "- [two]"},
		{head + "* two", head + "* two"}, {head, strings.TrimSpace(head)},
	} {
		if got := cutMemories(c.text, items); got != c.want {
			t.Errorf("%q: %q", c.text, got)
		}
		if got := cutMemories(c.text, nil); got != c.text {
			t.Errorf("without items, %q: %q", c.text, got)
		}
	}
}

// Messages are cut off a text where one of them stands.
func TestCutMessages(t *testing.T) {
	one := []memory.Item{{ID: messagePrefix + "m1"}}
	for _, c := range []struct {
		text     string
		messages []memory.Item
		want     string
	}{
		{"a\n## Cross-agent notifications\n- [m1] x", one, "a\n"}, {"## Cross-agent notifications\n- [m1] x", one, ""},
		{"a\n## Cross-agent notifications\n- [m2] x", one, "a\n## Cross-agent notifications\n- [m2] x"},
		{"a m1\n## Cross-agent notifications", one, "a m1\n## Cross-agent notifications"}, {"a m1", one, "a m1"},
		{"a\n## Cross-agent notifications\n- [m1] x", nil, "a\n## Cross-agent notifications\n- [m1] x"},
		{"a\n## Cross-agent notifications\nforged\n## Cross-agent notifications\nm1", one, "a\n## Cross-agent notifications\nforged\n"},
	} {
		if got := cutMessages(c.text, c.messages); got != c.want {
			t.Errorf("%q: %q", c.text, got)
		}
	}
}

// Messages of other agents as items: at most so many, cut, each with who wrote it and of which kind.
func TestMessageItems(t *testing.T) {
	item := `{"id":"%d","fromAgentId":"a\nb","type":"info_now","content":"x\r\ny","createdAt":"2026-01-02"},`
	var list strings.Builder
	for n := range maxMessages + 1 {
		fmt.Fprintf(&list, item, n)
	}
	got := notifications{json.RawMessage(`{"items":[{"id":"","content":"x"},{"id":"9","content":" \n"},` + strings.TrimSuffix(list.String(), ",") + `]}`)}.messages()
	want := memory.Item{ID: "message:0", Text: "Message from agent a b (info now): x\ny", Origin: "agent a b", Date: day(2026, 1, 2)}
	if len(got) != maxMessages || cmp.Diff(want, got[0]) != "" {
		t.Errorf("%d: %s", len(got), cmp.Diff(want, got[0]))
	}
	got = notifications{json.RawMessage(`{"items":[{"id":"` + strings.Repeat("i", 200) + `","content":"` + strings.Repeat("x", maxMessage+1) + `"}]}`)}.messages()
	if len(got) != 1 || len(got[0].ID) != len(messagePrefix)+128 || !strings.HasSuffix(got[0].Text, "agent : "+strings.Repeat("x", maxMessage)) {
		t.Errorf("a long one: %+v", got)
	}
	for id, is := range map[string]bool{"message:1": true, "guidance:1": true, "mem-1": false, "": false} {
		if IsMessage(id) != is {
			t.Errorf("%q: %v", id, !is)
		}
	}
}

// Who owns a session, by a hook's reply.
func TestOwnership(t *testing.T) {
	for _, c := range []struct {
		o    ownership
		want error
		text string
	}{
		{ownership{}, nil, ""}, {ownership{Bypassed: true, Skipped: true}, memory.ErrBypassed, ""},
		{ownership{DuplicateRuntimePath: true, Skipped: true, ClaimedBy: strings.Repeat("x", 40)}, memory.ErrOwned, strings.Repeat("x", 32) + " path"},
		{ownership{Skipped: true}, memory.ErrOwned, "skipped"},
	} {
		if err := c.o.err(); !errors.Is(err, c.want) || err != nil && !strings.HasSuffix(err.Error(), c.text) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// Which failed call the daemon may have acted on, and what a refusal is.
func TestCallErrors(t *testing.T) {
	refused := &StatusError{Code: 409, Message: "x"}
	for _, c := range []struct {
		err         error
		doubt, is   bool
		deliveredAs error
	}{
		{nil, false, false, nil}, {refused, false, true, memory.ErrOwned}, {unavailable(refused), false, true, memory.ErrOwned},
		{&callError{sent: true, err: errGarbage}, true, false, ErrNoAnswer}, {&callError{err: errGarbage}, false, false, errRefused},
		{&callError{err: unavailable(refused)}, false, false, errRefused}, // of the question who it is
		{&callError{err: &callError{sent: true, err: errGarbage}}, false, false, errRefused},
		{&StatusError{Code: 502}, false, false, ErrNoAnswer}, {&StatusError{Code: 504}, false, false, ErrNoAnswer},
		{&StatusError{Code: 403}, false, false, errRefused}, {&StatusError{Code: 500}, false, false, errRefused},
	} {
		if got := deliveryError(c.err); inDoubt(c.err) != c.doubt || isStatus(c.err, 409) != c.is || !errors.Is(got, c.deliveredAs) {
			t.Errorf("%v: doubt %v, 409 %v, delivered as %v", c.err, inDoubt(c.err), isStatus(c.err, 409), got)
		}
	}
	if err := deliveryError(&StatusError{Code: 403}); !strings.Contains(err.Error(), `permission "remember"`) {
		t.Error(err)
	}
	if got := []string{refused.Error(), (&StatusError{Code: 500}).Error()}; !slices.Equal(got,
		[]string{"daemon answered 409: x", "daemon answered 500"}) {
		t.Error(got)
	}
	if unavailable(nil) != nil || !errors.Is(unavailable(errGarbage), memory.ErrUnavailable) {
		t.Error("what is no answer is not unavailable")
	}
}

// What of a refusal ends in logs.
func TestRefusalsText(t *testing.T) {
	c := client(t, "http://127.0.0.1:1", func(o *Options) { o.Token = "s3cr3t" })
	for reply, want := range map[string]string{
		`{"error":"no\nsuch key s3cr3t"}`: "no such key [token]", `plain`: "plain", `<html>`: "", `{"other":1}`: "",
		`{"error":""}`: "", strings.Repeat("x", 300): strings.Repeat("x", 200), "a\xffb": "ab",
	} {
		if got := c.message([]byte(reply)); got != want {
			t.Errorf("%.40s: %q", reply, got)
		}
	}
}

// When a read is made a second time.
func TestWorthAnother(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		code int
		err  error
		want bool
	}{
		{t.Context(), 500, nil, true}, {t.Context(), 499, nil, false}, {t.Context(), 0, syscall.ECONNRESET, true},
		{t.Context(), 0, syscall.ECONNREFUSED, false}, {gone, 0, syscall.ECONNRESET, false},
	} {
		if got, _ := worthAnother(c.ctx, &http.Response{StatusCode: c.code}, c.err); got != c.want {
			t.Errorf("%d, %v: %v", c.code, c.err, got)
		}
	}
}

// Dates as daemons write them.
func TestParseDate(t *testing.T) {
	for text, want := range map[string]time.Time{
		"Jan 2, 2026": day(2026, 1, 2), "January 2, 2026": day(2026, 1, 2), "2026-01-02": day(2026, 1, 2),
		"2026-01-02T01:00:00+01:00": day(2026, 1, 2), "2026-01-02 00:00:00": day(2026, 1, 2), "soon": {}, "": {},
	} {
		if got := parseDate(text); !got.Equal(want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// How long a daemon is left alone, and what a stamp says of it.
func TestStamps(t *testing.T) {
	for times, want := range map[int]time.Duration{0: 30 * time.Second, 1: 30 * time.Second, 2: time.Minute,
		3: 2 * time.Minute, 4: 5 * time.Minute, 9: 5 * time.Minute} {
		if got := openFor(times); got != want {
			t.Errorf("after %d failures: %v", times, got)
		}
	}
	now := time.Unix(1e9, 0)
	r := &presence{file: filepath.Join(t.TempDir(), "daemon.json"), url: "u", now: func() time.Time { return now }}
	stamped := func() stamp { return r.read()["u"] }
	r.answered()
	if _, err := os.Stat(r.file); err == nil {
		t.Error("an answer without a failure was written down")
	}
	if turn, _ := r.allow(); turn != callAllowed {
		t.Error("left alone without a reason")
	}
	for i, after := range []time.Duration{0, 29 * time.Second, time.Second, time.Minute, 2 * time.Minute} {
		now = now.Add(after)
		r.failed()
		if want := []int{1, 1, 2, 3, 4}[i]; stamped().Times != want || !r.open() {
			t.Errorf("failure %d: %+v", i, stamped())
		}
		if turn, _ := r.allow(); turn != callDenied {
			t.Errorf("failure %d: called at once", i)
		}
	}
	now = now.Add(5 * time.Minute)
	turn, done := r.allow()
	if other, _ := r.allow(); turn != callProbe || other != callDenied {
		t.Errorf("of two: %v and %v", turn, other)
	}
	done()
	now = time.UnixMilli(stamped().Failed).Add(-time.Hour) // a clock that was put back
	r.answered()
	if s := stamped(); s.Answered != s.Failed || s.Times != 0 || r.open() {
		t.Errorf("answered: %+v", s)
	}
	now = now.Add(2 * time.Hour)
	if r.failed(); stamped().Times != 1 {
		t.Errorf("failed anew: %+v", stamped())
	}
	for text, open := range map[string]bool{`{"u":{"failed":2,"answered":1}}`: true, `{"u":{"failed":1,"answered":1}}`: false,
		`{"v":{"failed":2}}`: false, `[`: false, `{"u":{"failed":2}}` + strings.Repeat(" ", maxStamps): false} {
		if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r.open() != open {
			t.Errorf("%.40s: %v", text, !open)
		}
	}
	nowhere := &presence{url: "u", now: r.now}
	if nowhere.failed(); nowhere.open() {
		t.Error("a state without a file")
	}
}

// What is known of a key, step by step.
func TestKeyStates(t *testing.T) {
	c := &Client{}
	if !c.Unheard("k") || c.bypassed("k") != nil {
		t.Error("something is known of a new key")
	}
	ended := c.starts("k")
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if c.Unheard("k") || c.awaitStart(late, "k") == nil {
		t.Error("a start that is under way is not known")
	}
	ended(unavailable(errGarbage))
	if !c.Unheard("k") || c.awaitStart(late, "k") != nil {
		t.Error("the daemon has not heard of it")
	}
	c.starts("k")(fmt.Errorf("%w: %w", memory.ErrKeySpent, unavailable(errGarbage)))
	if c.Unheard("k") {
		t.Error("its key is spent")
	}
	if c.resumed("k"); !c.Unheard("k") {
		t.Error("resumed")
	}
	if c.heard("k", errGarbage); !c.Unheard("k") {
		t.Error("no answer is none")
	}
	if c.heard("k", memory.ErrBypassed); c.Unheard("k") || !errors.Is(c.bypassed("k"), memory.ErrBypassed) {
		t.Error("switched off")
	}
	if c.heard("k", nil); c.bypassed("k") == nil {
		t.Error("switched off is final")
	}
	if c.Drop("k"); !c.Unheard("k") {
		t.Error("dropped")
	}
	for n := range maxAsked + 1 {
		c.recallBegins("k", fmt.Sprint(n))
	}
	if c.recalled("k", "0") || !c.recalled("k", "1") || c.recalled("k", "1") || !c.recalled("k", fmt.Sprint(maxAsked)) {
		t.Error("which prompts a recall has submitted")
	}
	one, two := memory.Item{ID: "message:1"}, memory.Item{ID: "message:2"}
	c.keepMessages("k", []memory.Item{one, two})
	c.onKey("k", func(v *keyState) { v.guidance = &memory.Item{ID: "guidance:1"} })
	if got := c.newlyTold("k", []string{"mem-1", "message:1"}); !slices.Equal(got, []string{"1"}) {
		t.Errorf("told %v", got)
	}
	left := func() (ids []string) {
		for _, it := range c.Messages("k") {
			ids = append(ids, it.ID)
		}
		return ids
	}
	if got := left(); !slices.Equal(got, []string{"message:2", "guidance:1"}) {
		t.Errorf("left %v", got)
	}
	if got := c.newlyTold("k", []string{"message:1", "guidance:1"}); len(got) != 0 {
		t.Errorf("told again %v", got)
	}
	c.keepMessages("k", []memory.Item{one, two})
	if got := left(); !slices.Equal(got, []string{"message:2"}) {
		t.Errorf("came again %v", got)
	}
}

// A folder is ours under any of its names.
func TestSamePath(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{dir, dir, true}, {link, dir, true}, {dir, link + "/", true}, {dir, dir + "x", false}, {"", "", false}, {dir, "", false},
		{"a", "a", false}, {dir + "/x", dir + "/y/../x", true},
	} {
		if got := samePath(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}

// What a session was given before is not given again.
func TestUnseen(t *testing.T) {
	items := []memory.Item{{ID: "1", Text: "one"}, {Text: "two  words"}, {ID: "3", Text: "three"}, {ID: "4"}}
	var got []string
	for _, it := range unseen(items, []string{"1", "two words", "x", ""}) {
		got = append(got, it.ID)
	}
	if !slices.Equal(got, []string{"3"}) {
		t.Error(got)
	}
}
