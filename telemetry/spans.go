package telemetry

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// batchSize is how many turns are read at a time.
const batchSize = 500

// A tracer makes spans: one for each turn, and below it one for each tool call.
type tracer struct {
	db       *sql.DB
	since    time.Time
	withText bool

	reports  map[int64]Report        // by turn
	inserted map[int64][]insertion   // by session, oldest first
	traces   map[int64]string        // traceparents, by turn
	tools    map[int64][]*toolReport // by turn
	after    int64                   // row of the turn that was read last
}

type insertion struct {
	session                   int64
	at                        time.Time
	source, outcome, text     string
	bytes, items, fetch, held int64
}

type toolReport struct {
	correlation.ToolCall
	turn        int64
	first, last time.Time
}

// A turn as spans need it.
type turn struct {
	id, session                              int64
	started, ended                           time.Time
	stop                                     string
	code                                     int
	user, assistant                          string
	harness, version, acpID, project, parent string
}

func newTracer(ctx context.Context, db *sql.DB, o Export) (*tracer, error) {
	t := &tracer{
		db: db, since: o.Since, withText: o.WithText,
		reports: map[int64]Report{}, inserted: map[int64][]insertion{},
		traces: map[int64]string{}, tools: map[int64][]*toolReport{},
	}
	err := eachReport(ctx, db, Scope{}, func(r Report) {
		if r.Turn != 0 && (r.Input != nil || r.Output != nil) {
			t.reports[r.Turn] = r
		}
	})
	if err != nil {
		return nil, err
	}
	text := `''`
	if t.withText {
		text = `text`
	}
	told, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (in insertion, err error) {
		var at int64
		err = row.Scan(&in.session, &at, &in.source, &in.outcome, &in.bytes, &in.items, &in.fetch, &in.held, &in.text)
		in.at = sqlite.Unstamp(at)
		return in, err
	}, `SELECT session, at, source, outcome, bytes, json_array_length(items), fetch_ms, held_ms, `+text+`
		FROM injections WHERE at >= ? ORDER BY id`, sqlite.Stamp(o.Since))
	if err != nil {
		return nil, sqlite.While("reading what was inserted", err)
	}
	for _, in := range told {
		t.inserted[in.session] = append(t.inserted[in.session], in)
	}
	return t, t.readEvents(ctx)
}

// readEvents reads what only the events say: when tools were called, and with which traceparent a prompt was sent.
func (t *tracer) readEvents(ctx context.Context) error {
	_, err := sqlite.Collect(ctx, t.db, func(row sqlite.Row) (_ struct{}, err error) {
		var at, turn int64
		var kind string
		var data []byte
		if err := row.Scan(&turn, &at, &kind, &data); err != nil {
			return struct{}{}, err
		}
		var e struct {
			Parent string               `json:"parent"`
			Tool   correlation.ToolCall `json:"tool"`
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return struct{}{}, err
		}
		if kind == "trace_known" {
			t.traces[turn] = e.Parent
			return struct{}{}, nil
		}
		t.addTool(turn, e.Tool, sqlite.Unstamp(at))
		return struct{}{}, nil
	}, `SELECT turn, at, kind, data FROM events WHERE kind IN ('tool_used', 'trace_known') AND turn IS NOT NULL
		AND at >= ? ORDER BY at, id`, sqlite.Stamp(t.since))
	return sqlite.While("reading events", err)
}

// addTool adds a report of a tool call. Fields that are empty stay as they were.
func (t *tracer) addTool(turn int64, call correlation.ToolCall, at time.Time) {
	var known *toolReport
	for _, one := range t.tools[turn] {
		if call.ID != "" && one.ID == call.ID {
			known = one
		}
	}
	if known == nil {
		known = &toolReport{turn: turn, first: at}
		t.tools[turn] = append(t.tools[turn], known)
	}
	known.last, known.ID = at, call.ID
	for _, field := range []struct{ to, from *string }{
		{&known.Title, &call.Title}, {&known.Kind, &call.Kind}, {&known.Status, &call.Status},
	} {
		if *field.from != "" {
			*field.to = *field.from
		}
	}
}

// next returns the next turns that have ended, at most batchSize of them, with their spans; none at the end.
func (t *tracer) next(ctx context.Context) (spans []span, turns []turn, err error) {
	text := `'', ''`
	if t.withText {
		text = `t.user, t.assistant`
	}
	turns, err = sqlite.Collect(ctx, t.db, func(row sqlite.Row) (v turn, err error) {
		var started, ended int64
		err = row.Scan(&v.id, &v.session, &started, &ended, &v.stop, &v.code, &v.user, &v.assistant, &v.harness,
			&v.version, &v.acpID, &v.project, &v.parent)
		v.assistant = chars.WithoutToolMarks(v.assistant)
		v.started, v.ended = sqlite.Unstamp(started), sqlite.Unstamp(ended)
		return v, err
	}, `SELECT t.id, t.session, t.started, t.ended, t.stop, t.code, `+text+`, s.harness, s.agent_version, s.acp_id,
		s.project, s.parent_key FROM turns t JOIN sessions s ON s.id = t.session
		WHERE t.id > ? AND t.ended > 0 AND t.started >= ? ORDER BY t.id LIMIT ?`,
		t.after, sqlite.Stamp(t.since), batchSize)
	if err != nil {
		return nil, nil, sqlite.While("reading turns", err)
	}
	for _, one := range turns {
		t.after = one.id
		spans = append(spans, t.spansOf(one)...)
	}
	return spans, turns, nil
}

func (t *tracer) spansOf(v turn) []span {
	id := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", v.acpID, v.id, v.started.UnixMilli()))
	trace, own, parent := id[:16], id[16:24], []byte(nil)
	if fields := strings.Split(t.traces[v.id], "-"); len(fields) == 4 {
		trace, parent = unhex(fields[1]), unhex(fields[2])
	}
	report := t.reports[v.id]
	s := span{
		TraceID: trace, SpanID: own, ParentID: parent, Name: "invoke_agent " + v.harness, Kind: kindClient,
		Start: nano{v.started}, End: nano{v.ended},
		Attributes: attributes(
			"gen_ai.operation.name", "invoke_agent", "gen_ai.provider.name", provider(v.harness),
			"gen_ai.agent.name", v.harness, "gen_ai.agent.version", v.version, "gen_ai.conversation.id", v.acpID,
			"gen_ai.usage.input_tokens", report.Input, "gen_ai.usage.output_tokens", report.Output,
			"signet.project", v.project, "signet.parent_key", v.parent,
		),
	}
	if v.stop != "" {
		s.Attributes = append(s.Attributes, attributes("gen_ai.response.finish_reasons", []string{v.stop})...)
	}
	if v.stop == "" {
		kind := "no_response"
		if v.code != 0 {
			kind = strconv.Itoa(v.code)
		}
		s.Attributes = append(s.Attributes, attributes("error.type", kind)...)
		s.Status = &status{Code: statusError}
	}
	if t.withText {
		s.Attributes = append(s.Attributes, attributes(
			"gen_ai.input.messages", message("user", v.user, ""),
			"gen_ai.output.messages", message("assistant", v.assistant, v.stop),
		)...)
	}
	for told := t.inserted[v.session]; len(told) > 0 && !told[0].at.After(v.ended); told = t.inserted[v.session] {
		in := told[0]
		t.inserted[v.session] = told[1:]
		s.Events = append(s.Events, spanEvent{At: nano{in.at}, Name: "signet.memory.inserted", Attributes: attributes(
			"signet.memory.source", in.source, "signet.memory.outcome", in.outcome, "signet.memory.bytes", in.bytes,
			"signet.memory.items", in.items, "signet.memory.fetch_ms", in.fetch, "signet.memory.held_ms", in.held,
			"signet.memory.text", in.text)})
	}
	all := []span{s}
	for i, tool := range t.tools[v.id] {
		sum := sha256.Sum256(fmt.Appendf(own, "tool %d", i))
		name := tool.Kind
		if name == "" {
			name = "tool"
		}
		one := span{
			TraceID: trace, SpanID: sum[:8], ParentID: own, Name: "execute_tool " + name, Kind: kindInternal,
			Start: nano{tool.first}, End: nano{tool.last},
			Attributes: attributes(
				"gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", name,
				"gen_ai.tool.call.id", tool.ID, "signet.tool.status", tool.Status,
			),
		}
		if t.withText {
			one.Attributes = append(one.Attributes, attributes("gen_ai.tool.description", tool.Title)...)
		}
		if tool.Status == "failed" {
			one.Attributes = append(one.Attributes, attributes("error.type", "failed")...)
			one.Status = &status{Code: statusError}
		}
		all = append(all, one)
	}
	return all
}

// provider is the name of a harness in the registry, or its own if it is not there.
func provider(harness string) string {
	if p, known := upstream.ByAgent(harness); known {
		return p.Name
	}
	return harness
}

// message returns a message in the form of OpenTelemetry's gen_ai attributes, JSON in a string; "" for an empty text.
func message(role, text, stop string) string {
	if text == "" {
		return ""
	}
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	list, err := json.Marshal([]struct {
		Role   string `json:"role"`
		Parts  []part `json:"parts"`
		Finish string `json:"finish_reason,omitempty"`
	}{{role, []part{{"text", text}}, stop}})
	if err != nil { // texts always encode
		return ""
	}
	return string(list)
}

func unhex(text string) []byte {
	b, _ := hex.DecodeString(text) // the relay has checked it
	return b
}
