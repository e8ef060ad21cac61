package signet

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// One memory's life over the HTTP API.
func TestMemories(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{Token: "good"})
	c := client(t, d.URL(), func(o *Options) { o.Token = "good" })
	ctx := t.Context()
	importance, score := 0.7, 0.5

	var kept struct {
		ID, Content, Tags, Type string
		Importance              float64
	}
	raw, err := c.Remember(ctx, Note{Content: "Robin prefers tabs", Type: "preference",
		Importance: &importance, Tags: "style,editor"})
	into(t, raw, err, &kept)
	if kept.ID == "" || kept.Content != "Robin prefers tabs" || kept.Tags != "style,editor" ||
		kept.Type != "preference" || kept.Importance != 0.7 {
		t.Errorf("kept %+v", kept)
	}

	var found struct{ Results []struct{ ID string } }
	raw, err = c.Search(ctx, Query{Query: "who prefers tabs?", MinScore: &score})
	if into(t, raw, err, &found); len(found.Results) != 1 || found.Results[0].ID != kept.ID {
		t.Errorf("found %s", raw)
	}
	if got := d.Requests("/api/memory/recall")[0].JSON(); got["limit"] != 10.0 || got["importance_min"] != 0.5 {
		t.Errorf("searched with %v", got)
	}

	raw, err = c.Get(ctx, kept.ID)
	if into(t, raw, err, &kept); kept.Content != "Robin prefers tabs" {
		t.Errorf("got %s", raw)
	}

	content := "Robin prefers spaces"
	if _, err := c.Modify(ctx, kept.ID, Change{Content: &content, Reason: "said so"}); err != nil {
		t.Error(err)
	}
	var list struct{ Memories []struct{ Content string } }
	raw, err = c.List(ctx, 5, 0, "preference")
	if into(t, raw, err, &list); len(list.Memories) != 1 || list.Memories[0].Content != content {
		t.Errorf("listed %s", raw)
	}
	if raw, err = c.List(ctx, 0, 1, ""); err != nil {
		t.Errorf("listed %s, %v", raw, err)
	}
	asked := d.Requests("/api/memories")
	if len(asked) != 2 || asked[0].Path != "/api/memories?limit=5&type=preference" || asked[1].Path != "/api/memories?offset=1" {
		t.Errorf("asked for %+v", asked)
	}

	if _, err := c.Feedback(ctx, "k", map[string]float64{kept.ID: -1}); err != nil {
		t.Error(err)
	}
	if got := d.FeedbackGiven(); len(got) != 1 || got[0].Key != "k" || got[0].Ratings[kept.ID] != -1 {
		t.Errorf("feedback %+v", got)
	}

	if _, err := c.Forget(ctx, kept.ID, "wrong"); err != nil {
		t.Error(err)
	}
	if m := d.Memories()[0]; !m.Forgotten || m.Reason != "wrong" {
		t.Errorf("forgot %+v", m)
	}
	for name, err := range map[string]error{
		"get":        second(c.Get(ctx, kept.ID)),
		"modify":     second(c.Modify(ctx, kept.ID, Change{Reason: "x"})),
		"forget":     second(c.Forget(ctx, "../sessions", "x")),
		"odd id":     second(c.Get(ctx, "a/b?c=d#e")),
		"no content": second(c.Remember(ctx, Note{})),
		"no query":   second(c.Search(ctx, Query{})),
	} {
		var se *StatusError
		if !errors.As(err, &se) || se.Code != 404 && se.Code != 400 || se.Message == "" ||
			errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}

	d.Fail(daemontest.Fault{Kind: daemontest.Drop})
	if _, err := c.Remember(ctx, Note{Content: "x"}); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("dropped: %v", err)
	}
	d.Heal()
	d.Fail(daemontest.Fault{Kind: daemontest.Garbage})
	if _, err := c.Get(ctx, "x"); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("garbage: %v", err)
	}
}

func into(t *testing.T, raw json.RawMessage, err error, v any) {
	t.Helper()
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestMCPClient(t *testing.T) {
	mcp := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	d := daemontest.Start(t, daemontest.Options{Token: "good", MCP: mcp})
	c := client(t, d.URL(), func(o *Options) { o.Token = "good" })
	endpoint, hc := c.MCP()
	res, err := hc.Post(endpoint, "application/json", strings.NewReader(`{"id":1}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || string(body) != `{"id":1}` {
		t.Errorf("got %s, %v", body, err)
	}
	h := d.Requests("/mcp")[0].Header
	if h.Get("Authorization") != "Bearer good" || h.Get("X-Signet-Actor") != "acp-proxy" {
		t.Errorf("header %v", h)
	}
	elsewhere := daemontest.Start(t, daemontest.Options{})
	if _, err := hc.Get(elsewhere.URL() + "/health"); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("elsewhere: %v", err)
	}
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("another host got %d requests", n)
	}
	d.Stop()
	if _, err := hc.Get(endpoint); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("stopped: %v", err)
	}
}

// What is read of how the daemon's jobs do, by what it answers of them.
func TestPipeline(t *testing.T) {
	const jobs = `{"queues":{"summary":{"pending":1,"leased":2,"completed":4,"failed":0,"dead":8}}}`
	const captures = `{"ok":false,"capture":{"pending":16,"failed":32,"dead":64,"completed":128,"lastError":"no\nmodel"},` +
		`"artifacts":{"failedSummaries":9}}`
	for name, tt := range map[string]struct {
		status, transcripts string // "" is 404
		want                Pipeline
		code                int
	}{
		"0.58.1":        {status: jobs, want: Pipeline{Waiting: 3, Done: 4, Dead: 8}},
		"0.145.8":       {status: jobs, transcripts: captures, want: Pipeline{19, 132, 105, "no model"}},
		"no counts":     {transcripts: captures, want: Pipeline{16, 128, 105, "no model"}},
		"tells nothing": {code: 404},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := map[string]string{"/api/pipeline/status": tt.status, "/api/diagnostics/transcripts": tt.transcripts}[r.URL.Path]
			if answer == "" || r.FormValue("agentId") != "alto" {
				http.NotFound(w, r)
			}
			_, _ = io.WriteString(w, answer)
		}))
		got, err := client(t, s.URL).Pipeline(t.Context(), "alto")
		s.Close()
		if got != tt.want || (err != nil) != (tt.code != 0) || tt.code != 0 && !isStatus(err, tt.code) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
