package view_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/html"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/view"
	"github.com/Signet-AI/signet-acp-proxy/view/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// live is a page that changes the store's memories.
func live(src view.Source) view.Live {
	store := src.Memories
	return view.Live{Source: src, Grace: time.Millisecond,
		Changes: map[string]func(context.Context, string, string) error{
			"forget": func(ctx context.Context, id, _ string) error { return store.Forget(ctx, id) },
			"keep": func(ctx context.Context, id, _ string) error {
				_, err := store.Keep(ctx, id, "")
				return err
			},
			"pin": func(ctx context.Context, id, _ string) error {
				_, err := store.Modify(ctx, id, embedded.Change{Source: embedded.Pinned, Who: memory.Pin})
				return err
			},
			"edit": func(ctx context.Context, id, text string) error {
				_, err := store.Modify(ctx, id, embedded.Change{Content: &text, Source: "memory edit"})
				return err
			},
		},
		Undo: func(context.Context) error { return errors.New("nothing was removed") },
		End: func(_ context.Context, id string) error {
			if id != "01l1" {
				return errors.New("no delegation has this id")
			}
			return nil
		},
	}
}

// A served page, and what a browser does with it.
type served struct {
	t       *testing.T
	src     view.Source
	key     string // the printed address, with the key
	address string // of the page, with a slash at the end
	client  *http.Client
	done    chan error // what Serve gave
	stop    context.CancelFunc
}

func serve(t *testing.T, sample viewtest.Sample) *served {
	t.Helper()
	jar, _ := cookiejar.New(nil) // without options it always can be made
	s := &served{t: t, src: source(t, sample), client: &http.Client{Transport: &http.Transport{}, Jar: jar},
		done: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	opened := make(chan string, 1)
	page := live(s.src)
	page.Opened = func(address string) error { opened <- address; return nil }
	go func() { s.done <- page.Serve(ctx) }()
	s.key = <-opened
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		stop()
		if s.done != nil {
			s.ended()
		}
	})
	s.enter()
	return s
}

// enter exchanges the key for the cookie.
func (s *served) enter() {
	s.t.Helper()
	answer, err := s.client.Get(s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	answer.Body.Close()
	if s.address = answer.Request.URL.String(); answer.StatusCode != http.StatusOK || s.address == s.key {
		s.t.Fatalf("%s leads to %s: %s", s.key, s.address, answer.Status)
	}
}

// ended waits for the end of the server.
func (s *served) ended() {
	s.t.Helper()
	if err := <-s.done; err != nil {
		s.t.Errorf("serving: %v", err)
	}
	s.done = nil
}

func (s *served) origin() string {
	scheme, rest, _ := strings.Cut(s.key, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

func (s *served) do(method, path, body string, header ...string) (int, string) {
	s.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = s.address + path
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// window opens one: what is told to it, and how to close it.
func (s *served) window() (told func() string, closeIt func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"changes", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(answer.Body)
	return func() string {
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					return data
				}
			}
			return "nothing more"
		}, func() {
			cancel()
			answer.Body.Close()
		}
}

// Whoever has no cookie, names another host or comes from another page gets nothing, and changes nothing.
func TestLiveRefuses(t *testing.T) {
	s := serve(t, viewtest.Sample{Turns: 3, Memories: 3})
	origin := s.origin()
	all, err := s.src.Memories.List(t.Context(), embedded.Filter{})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	forget := "memories/" + all[0].ID + "/forget"
	for _, c := range []struct {
		name, method, path string
		header             []string
	}{
		{"no key", "GET", origin + "/", nil},
		{"a wrong key", "GET", origin + "/ABCDEFGHIJKLMNOPQRSTUVWXYZ/", nil},
		{"half of the path", "GET", strings.TrimSuffix(s.address, "/")[:len(s.address)-5] + "/", nil},
		{"the key again", "GET", s.key, nil},
		{"the key, further below", "GET", s.key + "parts/memories", nil},
		{"a cookie that was made up", "GET", "", []string{"Cookie", "signet-view=ABC"}},
		{"another page has it in a frame", "GET", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "iframe"}},
		{"another page goes to a part", "GET", "parts/memories",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "document"}},
		{"an icon", "GET", origin + "/favicon.ico", nil},
		{"another host name", "GET", "", []string{"Host", "evil.example"}},
		{"another name of this host", "GET", "",
			[]string{"Host", strings.Replace(strings.TrimPrefix(origin, "http://"), "127.0.0.1", "localhost", 1)}},
		{"no port", "GET", "", []string{"Host", "127.0.0.1"}},
		{"a foreign origin reads", "GET", "", []string{"Origin", "http://evil.example"}},
		{"another page loads it", "GET", "", []string{"Sec-Fetch-Site", "cross-site"}},
		{"another port loads it", "GET", "", []string{"Sec-Fetch-Site", "same-site"}},
		{"a foreign origin undoes", "POST", "undo", []string{"Origin", "http://evil.example"}},
		{"a foreign origin changes", "POST", forget, []string{"Origin", "http://evil.example"}},
		{"no origin changes", "POST", forget, nil},
		{"a foreign origin ends", "POST", "delegations/01l1/end", []string{"Origin", "http://evil.example"}},
		{"a file changes", "POST", forget, []string{"Origin", "null"}},
		{"a link changes", "POST", forget, []string{"Origin", origin, "Sec-Fetch-Site", "none"}},
		{"a wrong path changes", "POST", origin + "/x/" + forget, []string{"Origin", origin}},
	} {
		code, text := s.do(c.method, c.path, "{}", c.header...)
		if code != http.StatusForbidden || strings.Contains(text, "Curlew") {
			t.Errorf("%s: %d %.200s", c.name, code, text)
		}
	}
	if code, _ := s.do("GET", "", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "document"); code != 200 {
		t.Errorf("gone to from the page that leads there: %d", code)
	}
	if left, err := s.src.Memories.List(t.Context(), embedded.Filter{}); err != nil || len(left) != 3 {
		t.Errorf("%d memories are left, %v", len(left), err)
	}
	for path, want := range map[string]int{"": 200, "parts/rows": 200, "parts/overview": 200, "parts/memories": 200,
		"parts/usage": 200, "parts/memories?q=mast": 200,
		"parts/other": 404,
		"sessions/1":  200, "sessions/99": 404, "sessions/x": 404, "../": 403, "page.html": 404} {
		if code, text := s.do("GET", path, "", "Sec-Fetch-Site", "same-origin"); code != want {
			t.Errorf("%q: %d, want %d\n%.200s", path, code, want, text)
		}
	}
	for path, want := range map[string]int{"memories/zzzz/forget": 404, "memories/" + all[0].ID + "/burn": 404,
		forget + "/x": 404} {
		if code, text := s.do("POST", path, "{}", "Origin", origin); code != want {
			t.Errorf("%q: %d, want %d\n%.200s", path, code, want, text)
		}
	}
	if code, _ := s.do("POST", forget, "not JSON", "Origin", origin); code != 400 {
		t.Errorf("what is no change: %d", code)
	}
}

// What happens elsewhere is told to every window, and what is done with a click is done everywhere.
func TestLive(t *testing.T) {
	s := serve(t, viewtest.Sample{Turns: 3, Memories: 10})
	told, closeIt := s.window()
	other, closeOther := s.window()
	code, text := s.do("GET", "", "")
	if code != 200 || !strings.Contains(text, `href="#s1"`) || !strings.Contains(text, "connect-src 'self'") {
		t.Fatalf("%d %.300s", code, text)
	}
	all, err := s.src.Memories.List(t.Context(), embedded.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	one, two := all[1], all[2]
	for _, c := range []struct{ id, change, body string }{{one.ID, "pin", "{}"},
		{two.ID, "edit", `{"Text":"The well is eleven metres deep."}`}, {all[0].ID, "forget", "{}"}} {
		if code, text := s.do("POST", "memories/"+c.id+"/"+c.change, c.body, "Origin", s.origin()); code != 204 {
			t.Errorf("%s: %d %s", c.change, code, text)
		}
		if got := []string{told(), other()}; got[0] != "memories" || got[1] != "memories" {
			t.Errorf("%s: windows are told %q", c.change, got)
		}
	}
	_, text = s.do("GET", "parts/memories", "")
	shown := parse(t, text)
	if strings.Contains(text, "m-"+all[0].ID) || !strings.Contains(text, "The well is eleven metres deep.") ||
		!strings.Contains(shown.section("m-"+one.ID), "pinned") {
		t.Errorf("the page does not show what was done:\n%s", text)
	}
	if code, text := s.do("POST", "undo", "{}", "Origin", s.origin()); code != 409 ||
		!strings.Contains(text, "nothing was removed") {
		t.Errorf("undoing what cannot be undone: %d %s", code, text)
	}
	if _, err := s.src.Memories.Get(t.Context(), all[0].ID); !errors.Is(err, embedded.ErrNotFound) {
		t.Errorf("what was forgotten with a click is there: %v", err)
	}
	code, text = s.do("POST", "memories/"+one.ID+"/edit", `{"Text":" "}`, "Origin", s.origin())
	if code != 409 || !strings.Contains(text, "nothing to save") {
		t.Errorf("nothing is no memory: %d %s", code, text)
	}

	// another process says something
	elsewhere, err := migrations.Open(t.Context(), databaseOf(t, s.src))
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	exec(t, elsewhere, `INSERT INTO turns (session, key, process, started, ended, stop, user)
		VALUES (1, 'k', 'p', 1800000000000, 1800000000001, 'end_turn', 'What is new?')`)
	exec(t, elsewhere, `INSERT INTO events (at, kind, process, session, data) VALUES (1, 'turn_ended', 'p', 1, '{}')`)
	for told() != "session 1" {
	}
	if _, text := s.do("GET", "sessions/1", ""); !strings.Contains(text, "What is new?") {
		t.Errorf("a session that went on: %s", text)
	}
	exec(t, elsewhere, `INSERT INTO sessions (harness, acp_id, key, state, started, last_active)
		VALUES ('h', 'new', 'new', 'armed', 1, 1)`)
	for told() != "sessions" {
	}

	closeIt()
	closeOther()
	s.ended() // with its last window
}

// The list of a live page comes in pages, and has what its address asks for.
func TestLiveList(t *testing.T) {
	s := serve(t, viewtest.Sample{Turns: 360})
	exec(t, s.src.DB, `UPDATE sessions SET agent_id = 'night' WHERE id = 3`)
	exec(t, s.src.DB, `UPDATE sessions SET last_active = ? - id WHERE id <= 2`, time.Now().UnixMilli()) // within a day
	exec(t, s.src.DB, `UPDATE turns SET learned = 1 WHERE session >= 10`)
	exec(t, s.src.DB, `UPDATE turns SET assistant = 'It is a "sloop".' WHERE id = 19`)
	if err := s.src.Memories.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, s.src.DB, `UPDATE turns SET user = 'The keel is new.', learned = 0 WHERE session = 30`)
	rows := func(query string) (ids []string, more bool) {
		code, text := s.do("GET", "parts/rows?"+query, "")
		if code != 200 {
			t.Fatalf("%s: %d %s", query, code, text)
		}
		d := parse(t, "<table>"+text+"</table>")
		for _, n := range d.named("tr") {
			if id := attribute(n, "data-s"); id != "" {
				ids = append(ids, id)
			} else {
				more = true
			}
		}
		return ids, more
	}
	first, more := rows("")
	if len(first) != 60 || !more || first[0] != "1" {
		t.Errorf("%d sessions, the first is %s; more: %t", len(first), first[0], more)
	}
	if rest, more := rows("after=" + first[59]); len(rest) != 60 || more || rest[0] != "61" {
		t.Errorf("%d further sessions, the first is %v; more: %t", len(rest), rest, more)
	}
	for query, want := range map[string]string{
		"q=sloop":             "7",
		"q=SLOOPS":            "7",
		"q=slo":               "7",
		"q=a+%22sloop%22.":    "7",
		"q=%22is+a+%5C%22":    "",
		"q=%22It+is+a%22":     "7",
		"q=sloop+keel":        "",
		"q=keel":              "30",
		"q=the+keel":          "30",
		"q=zzz":               "",
		"q=%22":               strings.Join(first, " "),
		"agent=night":         "3",
		"agent=day":           "",
		"project=none&q=keel": "",
		"project=%2Fhome%2Fsample%2Fsrc%2Fcurlew&harness=Codex&since=1d": "2",
		"harness=Pascal":                "",
		"since=2026-11-22&project=none": "5",
		"since=1999-01-01":              "",
		"since=never&agent=night":       "3",
		"after=x&agent=night":           "3",
		"q=%27%29+OR+zzz+--":            "",
		"q=%2A+AND+%28+NEAR":            "",
	} {
		if ids, _ := rows(query); strings.Join(ids, " ") != want {
			t.Errorf("%s: %v, want %s", query, ids, want)
		}
	}
	_, text := s.do("GET", "sessions/3", "")
	for _, want := range []string{"Called by", "Codex, which delegated", "agent night", `href="#s2"`, "began with: "} {
		if !strings.Contains(text, want) {
			t.Errorf("session 3 does not say %q", want)
		}
	}
	if text := parse(t, text).section("s3"); !strings.Contains(text, strings.Repeat("A prompt of a megabyte. ", 40_000)) {
		t.Error("a live page has no whole prompt")
	}
}

// A search says where it is met; memories come in pages, by kind, project and who they are from.
func TestLiveMemories(t *testing.T) {
	s := serve(t, viewtest.Sample{Turns: 30, Memories: 120})
	get := func(path string) document {
		code, text := s.do("GET", path, "")
		if code != 200 {
			t.Fatalf("%s: %d %s", path, code, text)
		}
		return parse(t, "<table>"+text+"</table>")
	}
	met := get("parts/rows?q=orchard+gate").all(func(n *html.Node) bool { return attribute(n, "class") == "match quiet" })
	if len(met) == 0 || !strings.HasPrefix(words(met[0]), "Who keeps the code of the orchard gate?") {
		t.Errorf("met in %d sessions", len(met))
	}
	shown := func(query string) (ids []string) {
		for _, n := range get("parts/memories?" + query).all(func(n *html.Node) bool { return n.Data == "li" }) {
			if id := attribute(n, "id"); id != "" {
				ids = append(ids, id)
			}
		}
		return ids
	}
	first, second, third := shown("who=you"), shown("who=you&page=2"), shown("who=you&page=3")
	if len(first) != 50 || len(second) != 50 || len(third) != 19 || slices.Contains(first, second[0]) {
		t.Errorf("pages of %d, %d and %d", len(first), len(second), len(third))
	}
	for query, want := range map[string]int{"kind=preference": 15, "kind=preference&project=%2Fhome%2Fsample%2Fsrc%2Fkiln": 15,
		"who=you+%28pinned%29": 1, "q=kiln&kind=fact": 0, "kind=none": 0, "page=9": 0} {
		if got := shown(query); len(got) != want {
			t.Errorf("%s: %d memories", query, len(got))
		}
	}
	if text := words(get("parts/overview").root); !strings.Contains(text, "Any kindfact") || !strings.Contains(text, "From anyoneyou") {
		t.Error("kinds and people are no choices")
	}
	for _, part := range []string{"", "parts/memories"} {
		if _, text := s.do("GET", part, ""); strings.Contains(text, "memory forget 0") || strings.Contains(text, "Delete it") {
			t.Errorf("%q speaks of a file, or has a command for each memory", part)
		}
	}
}

// A server that nobody looks at ends with its process's signal.
func TestLiveEnds(t *testing.T) {
	s := serve(t, viewtest.Sample{})
	_, closeIt := s.window()
	defer closeIt()
	s.stop()
	s.ended()
	wrong := errors.New("no")
	live := view.Live{Source: s.src, Opened: func(string) error { return wrong }}
	if err := live.Serve(t.Context()); !errors.Is(err, wrong) {
		t.Error(err)
	}
}
