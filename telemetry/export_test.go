package telemetry_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

const (
	traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	canary      = "canary-4c1"
)

// exported is a database with a session whose first turn used a tool, in a client's span, and whose second one failed.
func exported(t *testing.T) *world {
	w := newWorld(t)
	s := w.session("codex", "conversation-1")
	first := w.turn(s, "1")
	w.exec(`UPDATE turns SET user = ?, assistant = ? WHERE id = ?`, "user "+canary, "agent "+canary, first)
	w.says(s, first, "result", 10, 5, nil)
	at := w.now.UnixMilli()
	for _, e := range []struct {
		after      int
		kind, data string
	}{
		{0, "trace_known", `{"turn":1,"parent":"` + traceParent + `"}`},
		{100, "tool_used", `{"turn":1,"tool":{"id":"call-1","title":"cat ` + canary + `","kind":"execute","status":"pending"}}`},
		{700, "tool_used", `{"turn":1,"tool":{"id":"call-1","title":"","kind":"","status":"failed"}}`},
	} {
		w.exec(`INSERT INTO events (at, kind, process, session, turn, data) VALUES (?, ?, 'p', ?, ?,
			?)`, at+int64(e.after), e.kind, s, first, e.data)
	}
	w.exec(`INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at, outcome, items,
		text)
		VALUES (?, 'k', 'context', 'b', 'embedded', 1100, 3, 4, ?, 'kept', '["a","b"]', ?)`, s, at, "memory "+canary)
	second := w.turn(s, "1")
	w.exec(`UPDATE turns SET stop = '', code = -32603 WHERE id = ?`, second)
	w.exec(`INSERT INTO turns (session, key, process, started, user) VALUES (?, 'k', '1', ?, 'still open')`, s,
		w.now.UnixMilli())
	return w
}

// ids are base64 in the generated types' JSON, and hexadecimal in OTLP's.
var ids = regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"`)

// read reads OTLP JSON with the types that the project itself makes of its schema; an unknown field fails.
func read(t *testing.T, text []byte, into proto.Message) {
	t.Helper()
	text = ids.ReplaceAllFunc(text, func(field []byte) []byte {
		m := ids.FindSubmatch(field)
		b, err := hex.DecodeString(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		return []byte(`"` + string(m[1]) + `":"` + base64.StdEncoding.EncodeToString(b) + `"`)
	})
	if err := protojson.Unmarshal(text, into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func TestExport(t *testing.T) {
	w := exported(t)
	var b bytes.Buffer
	turns, err := telemetry.Export{Version: "1.2.3"}.Write(t.Context(), w.store, &b)
	if err != nil || turns != 2 || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%d turns, %v:\n%s", turns, err, b.String())
	}
	if strings.Contains(b.String(), canary) || strings.Contains(b.String(), "still open") {
		t.Errorf("what was said is in it:\n%s", b.String())
	}
	var again bytes.Buffer
	if _, err := (telemetry.Export{Version: "1.2.3"}).Write(t.Context(), w.store, &again); err != nil ||
		again.String() != b.String() {
		t.Error("the same is exported otherwise the next time")
	}
	var parts struct{ ResourceSpans, ResourceMetrics json.RawMessage }
	if err := json.Unmarshal(b.Bytes(), &parts); err != nil {
		t.Fatal(err)
	}
	var traces trace.TracesData
	read(t, []byte(`{"resourceSpans":`+string(parts.ResourceSpans)+`}`), &traces)
	spans := traces.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	prompt, tool, failed := spans[0], spans[1], spans[2]
	has := func(s *trace.Span, key, want string) {
		t.Helper()
		for _, a := range s.Attributes {
			if a.Key == key {
				if got := strings.ReplaceAll(a.Value.String(), " ", ""); !strings.Contains(got,
					strings.ReplaceAll(want, " ", "")) {
					t.Errorf("%s is %s, want %s", key, got, want)
				}
				return
			}
		}
		t.Errorf("%s has no %s", s.Name, key)
	}
	if hex.EncodeToString(prompt.TraceId) != traceParent[3:35] ||
		hex.EncodeToString(prompt.ParentSpanId) != traceParent[36:52] {
		t.Errorf("the client's span is not the parent: %x %x", prompt.TraceId, prompt.ParentSpanId)
	}
	has(prompt, "gen_ai.operation.name", "invoke_agent")
	has(prompt, "gen_ai.conversation.id", "conversation-1")
	has(prompt, "gen_ai.usage.input_tokens", "10")
	has(prompt, "gen_ai.usage.output_tokens", "5")
	has(prompt, "gen_ai.response.finish_reasons", `end_turn`)
	if len(prompt.Events) != 1 || prompt.Events[0].Name != "signet.memory.inserted" {
		t.Errorf("what was inserted: %v", prompt.Events)
	}
	if string(tool.ParentSpanId) != string(prompt.SpanId) ||
		tool.EndTimeUnixNano-tool.StartTimeUnixNano != uint64(600*time.Millisecond) ||
		tool.Status.GetCode() != trace.Status_STATUS_CODE_ERROR {
		t.Errorf("a tool: %v", tool)
	}
	has(tool, "gen_ai.tool.name", "execute")
	has(tool, "gen_ai.tool.call.id", "call-1")
	has(failed, "error.type", "-32603")
	if len(failed.ParentSpanId) != 0 || len(failed.TraceId) != 16 || len(failed.SpanId) != 8 {
		t.Errorf("a turn that no client traces: %v", failed)
	}

	var measured metrics.MetricsData
	read(t, []byte(`{"resourceMetrics":`+string(parts.ResourceMetrics)+`}`), &measured)
	all := measured.ResourceMetrics[0].ScopeMetrics[0].Metrics
	if len(all) != 2 || all[0].Name != "gen_ai.client.token.usage" ||
		all[1].Name != "gen_ai.client.operation.duration" {
		t.Fatalf("%v", all)
	}
	tokens := all[0].GetHistogram().DataPoints
	if len(tokens) != 2 || *tokens[0].Sum != 10 || *tokens[1].Sum != 5 ||
		all[1].GetHistogram().DataPoints[0].Count != 2 {
		t.Errorf("%v", all)
	}
	for _, p := range tokens {
		if len(p.BucketCounts) != len(p.ExplicitBounds)+1 {
			t.Errorf("%d buckets of %d bounds", len(p.BucketCounts), len(p.ExplicitBounds))
		}
	}
}

// Text goes along only where it was asked for.
func TestExportText(t *testing.T) {
	var b bytes.Buffer
	if _, err := (telemetry.Export{WithText: true}).Write(t.Context(), exported(t).store, &b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"user " + canary, "agent " + canary, "memory " + canary, "cat " + canary,
		"gen_ai.input.messages",
		"gen_ai.output.messages"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in it", want)
		}
	}
}

func TestExportSince(t *testing.T) {
	w := exported(t)
	var b bytes.Buffer
	turns, err := telemetry.Export{Since: w.now.Add(time.Hour)}.Write(t.Context(), w.store, &b)
	if want := `{"resourceSpans":[],"resourceMetrics":[]}` + "\n"; err != nil || turns != 0 || b.String() != want {
		t.Errorf("%d turns, %v: %s", turns, err, b.String())
	}
}

func TestPost(t *testing.T) {
	w := exported(t)
	got := map[string][]byte{}
	refuse := false
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if refuse {
			http.Error(rw, "who are you", http.StatusUnauthorized)
			return
		}
		got[r.URL.Path], _ = io.ReadAll(r.Body)
		if r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v", r.Header)
		}
	}))
	defer server.Close()
	if turns, err := (telemetry.Export{}).Post(t.Context(), w.store, server.URL+"/"); err != nil || turns != 2 {
		t.Fatalf("%d turns, %v", turns, err)
	}
	var traces trace.TracesData
	read(t, got["/v1/traces"], &traces)
	var measured metrics.MetricsData
	read(t, got["/v1/metrics"], &measured)
	if len(traces.ResourceSpans) != 1 || len(measured.ResourceMetrics) != 1 || len(got) != 2 {
		t.Errorf("%d paths", len(got))
	}
	refuse = true
	if _, err := (telemetry.Export{}).Post(t.Context(), w.store, server.URL); err == nil ||
		!strings.Contains(err.Error(), "answered 401 Unauthorized: who are you") {
		t.Error(err)
	}
	for _, bad := range []string{"", "localhost:4318", "ftp://x", "http://"} {
		if _, err := (telemetry.Export{}).Post(t.Context(), w.store, bad); err == nil ||
			!strings.Contains(err.Error(), "is no endpoint") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
