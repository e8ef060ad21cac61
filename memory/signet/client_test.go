package signet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client makes a client of a daemon that a person configured.
func client(t *testing.T, url string, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{URL: url, Configured: true}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fixed serves one answer to everything.
func fixed(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// refusing is the address of a port that nothing listens on.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return "http://" + l.Addr().String()
}

// folder is a directory, and a symlink to it.
func folder(t *testing.T) (real, link string) {
	t.Helper()
	dir := t.TempDir()
	real, link = filepath.Join(dir, "agents"), filepath.Join(dir, "link")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symlinks here:", err)
	}
	return real, link
}

func TestNewURL(t *testing.T) {
	for _, tc := range []struct{ name, url, want string }{
		{"default", "", defaultURL},
		{"trailing slash", "http://127.0.0.1:4000/", "http://127.0.0.1:4000"},
		{"https", "https://signet.example", "https://signet.example"},
		{"ipv6", "http://[::1]:3850", "http://[::1]:3850"},
		{"plain to another machine", "http://signet.example:3850", ""},
		{"plain to an address", "http://10.0.0.4:3850", ""},
		{"no scheme", "127.0.0.1:3850", ""},
		{"other scheme", "ftp://x", ""},
		{"no host", "http://", ""},
		{"path", "http://x/api", ""},
		{"query", "http://x?token=s3cret", ""},
		{"password", "http://u:s3cret@x", ""},
		{"garbage", "http://[::1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := New(Options{URL: tc.url})
			switch {
			case tc.want == "" && err == nil:
				t.Fatalf("accepted as %s", c.URL())
			case tc.want == "" && strings.Contains(err.Error(), "s3cret"):
				t.Fatalf("error shows the secret: %v", err)
			case tc.want != "" && (err != nil || c.URL() != tc.want):
				t.Fatalf("got %v, %v; want %s", c, err, tc.want)
			}
		})
	}
}

func TestToken(t *testing.T) {
	for _, tc := range []struct {
		url  string
		sent bool
	}{
		{"http://127.0.0.1:3850", true},
		{"http://127.8.8.8", true},
		{"http://localhost:3850", true},
		{"http://[::1]:3850", true},
		{"https://signet.example", true},
		{"http://signet.example", false},
		{"http://10.0.0.4:3850", false},
		{"http://localhost.example", false},
		{"http://127.0.0.1.example", false},
	} {
		var log bytes.Buffer
		c, err := New(Options{URL: tc.url, Configured: true, Plain: true, Token: "sig_sk_canary", Log: zerolog.New(&log)})
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		c.identify(h, true)
		if got := h.Get("Authorization") == "Bearer sig_sk_canary"; got != tc.sent {
			t.Errorf("%s: token sent %v, want %v", tc.url, got, tc.sent)
		}
		if strings.Contains(log.String(), "canary") {
			t.Errorf("%s: token logged: %s", tc.url, log.String())
		}
		if !tc.sent && log.Len() == 0 {
			t.Errorf("%s: nobody is told that the token is not sent", tc.url)
		}
	}
}

// A daemon that repeats the token in its answer does not get it into our logs.
func TestTokenNeverShown(t *testing.T) {
	var log bytes.Buffer
	url := fixed(t, 401, `{"error":"malformed token\nsig_sk_canary"}`)
	c := client(t, url, func(o *Options) { o.Token, o.Log = "sig_sk_canary", zerolog.New(&log) })
	_, err := c.Start(t.Context(), memory.Session{Key: "k"})
	if err == nil || !isStatus(err, 401) || strings.Contains(err.Error(), "canary") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("error: %v", err)
	}
	if strings.Contains(log.String(), "canary") {
		t.Errorf("log: %s", log.String())
	}
}

func TestTeamMode(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{Token: "good"})
	if _, err := client(t, d.URL()).Health(t.Context()); !isStatus(err, 401) || !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("without a token: %v", err)
	}
	with := func(token string) *Client { return client(t, d.URL(), func(o *Options) { o.Token = token }) }
	if _, err := with("bad").Start(t.Context(), memory.Session{Key: "k"}); !isStatus(err, 401) ||
		!errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("with a bad token: %v", err)
	}
	if _, err := with("good").Start(t.Context(), memory.Session{Key: "k"}); err != nil {
		t.Errorf("with the token: %v", err)
	}
}

func TestHealth(t *testing.T) {
	real, link := folder(t)
	for _, tc := range []struct {
		name string
		opts daemontest.Options
		path string
		want Health
	}{
		{"older", daemontest.Options{AgentsDir: real}, real, Health{Version: "0.58.1", Status: "healthy", AgentsDir: real, Ours: true}},
		{"newer", daemontest.Options{AgentsDir: real, Generation: daemontest.Newer}, real,
			Health{Version: "0.214.3", Status: "healthy", AgentsDir: real, Newer: true, Ours: true}},
		{"by symlink", daemontest.Options{AgentsDir: real}, link, Health{Version: "0.58.1", Status: "healthy", AgentsDir: real, Ours: true}},
		{"daemon by symlink", daemontest.Options{AgentsDir: link}, real, Health{Version: "0.58.1", Status: "healthy", AgentsDir: link, Ours: true}},
		{"another folder", daemontest.Options{AgentsDir: filepath.Dir(real)}, real, Health{Version: "0.58.1", Status: "healthy", AgentsDir: filepath.Dir(real)}},
		{"no folder", daemontest.Options{}, real, Health{Version: "0.58.1", Status: "healthy"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := daemontest.Start(t, tc.opts)
			tc.want.OwnerUnknown = true // nobody looks who listens at an address that a person configured
			got, err := client(t, d.URL(), func(o *Options) { o.SignetPath = tc.path }).Health(t.Context())
			if err != nil || got != tc.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tc.want)
			}
		})
	}
	for name, body := range map[string]string{"html": "<html>", "other service": `{"ok":true}`, "null": "null"} {
		t.Run(name, func(t *testing.T) {
			if h, err := client(t, fixed(t, 200, body)).Health(t.Context()); !errors.Is(err, memory.ErrUnavailable) {
				t.Errorf("got %+v, %v", h, err)
			}
		})
	}
}

func TestNewer(t *testing.T) {
	for version, want := range map[string]bool{
		"0.58.1": false, "0.145.8": false, "0.199.9": false, "0.200.0": true, "0.214.3": true, "1.0.0": true,
		"v0.214.1": true,
		"":         false, "dev": false, "0": false, "-1.99": false, "x.99.1": false,
	} {
		if got := newer(version); got != want {
			t.Errorf("newer(%q) = %v", version, got)
		}
	}
}

// A daemon that nobody configured hears nothing but /health until it has named
// our folder.
func TestUnconfiguredDaemonMustServeOurFolder(t *testing.T) {
	real, link := folder(t)
	unconfigured := func(o *Options) { o.Configured, o.SignetPath = false, link }
	calls := map[string]func(*Client) error{
		"start": func(c *Client) error { _, err := c.Start(context.Background(), memory.Session{Key: "k"}); return err },
		"recall": func(c *Client) error {
			_, err := c.Recall(context.Background(), memory.Session{}, "heron", nil)
			return err
		},
		"end": func(c *Client) error {
			_, err := c.End(context.Background(), End{Session: memory.Session{Key: "k"}})
			return err
		},
		"compaction": func(c *Client) error {
			_, err := c.CompactionComplete(context.Background(), memory.Session{}, "s")
			return err
		},
		"remember": func(c *Client) error { _, err := c.Remember(context.Background(), Note{Content: "x"}); return err },
		"mcp": func(c *Client) error {
			endpoint, hc := c.MCP()
			res, err := hc.Post(endpoint, "application/json", strings.NewReader("{}"))
			if err == nil {
				res.Body.Close()
			}
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			other := daemontest.Start(t, daemontest.Options{AgentsDir: t.TempDir()})
			if err := call(client(t, other.URL(), unconfigured)); !errors.Is(err, ErrNotOurs) {
				t.Errorf("another folder: %v", err)
			}
			if n := len(other.Requests()) - len(other.Requests("/health")); n != 0 {
				t.Errorf("%d requests beside /health", n)
			}
			ours := daemontest.Start(t, daemontest.Options{AgentsDir: real})
			if err := call(client(t, ours.URL(), unconfigured)); errors.Is(err, ErrNotOurs) {
				t.Errorf("our folder: %v", err)
			}
			if err := call(client(t, other.URL())); errors.Is(err, ErrNotOurs) {
				t.Errorf("configured: %v", err)
			}
		})
	}
}

func TestTrustIsAskedAgain(t *testing.T) {
	real, _ := folder(t)
	now := time.Unix(1e9, 0)
	d := daemontest.Start(t, daemontest.Options{AgentsDir: real})
	c := client(t, d.URL(), func(o *Options) {
		o.Configured, o.SignetPath, o.Now = false, real, func() time.Time { return now }
	})
	ask := func(want int) {
		t.Helper()
		if _, err := c.Recall(t.Context(), memory.Session{}, "heron", nil); err != nil {
			t.Error(err)
		}
		if got := len(d.Requests("/health")); got != want {
			t.Errorf("/health asked %d times, want %d", got, want)
		}
	}
	ask(1)
	ask(1)
	now = now.Add(trustFor)
	ask(2)
	d.Fail(daemontest.Fault{Path: "/api", Kind: daemontest.Drop, Times: 1})
	c.Recall(t.Context(), memory.Session{}, "heron", nil)
	ask(3) // what listens there may be another now
}

func TestRedirectIsNotFollowed(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	s := httptest.NewServer(http.RedirectHandler(d.URL()+"/api/hooks/session-start", http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	_, err := client(t, s.URL).Start(t.Context(), memory.Session{Key: "k"})
	if !isStatus(err, 307) || !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if n := len(d.Requests()); n != 0 {
		t.Errorf("followed %d times", n)
	}
}

// Reads are tried twice, hooks never.
func TestRetries(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	c := client(t, d.URL())
	d.Fail(daemontest.Fault{Path: "/health", Kind: daemontest.Status, Times: 1})
	if _, err := c.Health(t.Context()); err != nil {
		t.Errorf("health after one failure: %v", err)
	}
	d.Fail(daemontest.Fault{Path: "/health", Kind: daemontest.Status})
	if _, err := c.Health(t.Context()); !isStatus(err, 500) {
		t.Errorf("health of a failing daemon: %v", err)
	}
	if n := len(d.Requests("/health")); n != 4 {
		t.Errorf("health was asked %d times, want 4", n)
	}
	for _, kind := range []daemontest.FaultKind{daemontest.Status, daemontest.Drop, daemontest.Garbage} {
		d.ForgetRequests()
		d.Heal()
		d.Fail(daemontest.Fault{Path: "/api", Kind: kind})
		c := client(t, d.URL())
		c.Start(t.Context(), memory.Session{Key: "k"})
		c.Recall(t.Context(), memory.Session{Key: "k"}, "heron", nil)
		c.End(t.Context(), End{Session: memory.Session{Key: "k"}})
		c.CompactionComplete(t.Context(), memory.Session{Key: "k"}, "s")
		c.Remember(t.Context(), Note{Content: "s"})
		if n := len(d.Requests()); n != 5 {
			t.Errorf("fault %d: %d requests for 5 calls", kind, n)
		}
	}
}

// A daemon too slow for prompts is not thereby too slow for session-start.
func TestSlowRecallLeavesStartAlone(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	d.Fail(daemontest.Fault{Path: "/api/hooks/user-prompt-submit", Kind: daemontest.BlackHole})
	c := client(t, d.URL())
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := c.Recall(ctx, memory.Session{}, "heron", nil); !errors.Is(err, memory.ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
		cancel()
	}
	if _, err := c.Start(t.Context(), memory.Session{Key: "k"}); err != nil {
		t.Errorf("start: %v", err)
	}
}

// Hooks are called under the harness's name, unless the daemon takes that for a format or a plugin of its own.
func TestHarnessNames(t *testing.T) {
	known := func(own string) string {
		if own == "unheard-of" {
			return ""
		}
		return own
	}
	for own, want := range map[string]string{"claude": "claude-code", "gemini": "gemini", "qwen": "qwen", "codex": "acp",
		"pi": "acp", "opencode": "acp", "openclaw": "acp", "unheard-of": "acp", "": "acp"} {
		d := daemontest.Start(t, daemontest.Options{})
		c, err := New(Options{URL: d.URL(), Configured: true, Name: known})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Free(t.Context(), memory.Session{Key: "k", Harness: own}); err != nil {
			t.Fatal(err)
		}
		if got := d.Ends()[0].Harness; got != want {
			t.Errorf("%s: %s, want %s", own, got, want)
		}
	}
}
