package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// batchSize is how many turns are read at a time.
const batchSize = 500

// A tracer makes spans: one for each turn, and below it one for each tool call.
type tracer struct {
	store    *correlation.Store
	since    time.Time
	withText bool

	reports  map[int64]Report                  // by turn
	inserted map[int64][]correlation.Injection // by session, oldest first
	traces   map[int64]string                  // traceparents, by turn
	tools    map[int64][]*toolReport           // by turn
	after    int64                             // row of the turn that was read last
}

type toolReport struct {
	correlation.ToolCall
	turn        int64
	first, last time.Time
}

func newTracer(ctx context.Context, store *correlation.Store, o Export) (*tracer, error) {
	t := &tracer{
		store: store, since: o.Since, withText: o.WithText,
		reports: map[int64]Report{}, inserted: map[int64][]correlation.Injection{},
		traces: map[int64]string{}, tools: map[int64][]*toolReport{},
	}
	err := eachReport(ctx, store, correlation.Scope{}, func(r Report) {
		if r.Turn != 0 && (r.Input != nil || r.Output != nil) {
			t.reports[r.Turn] = r
		}
	})
	if err != nil {
		return nil, err
	}
	told, err := store.InjectionsSince(ctx, o.Since, o.WithText)
	if err != nil {
		return nil, err
	}
	for _, in := range told {
		t.inserted[in.Session] = append(t.inserted[in.Session], in)
	}
	return t, t.readEvents(ctx)
}

// readEvents reads what only the events say: when tools were called, and with which traceparent a prompt was sent.
func (t *tracer) readEvents(ctx context.Context) error {
	const traced = "trace_known"
	events, err := t.store.TurnEvents(ctx, t.since, "tool_used", traced)
	if err != nil {
		return err
	}
	for _, e := range events {
		var said struct {
			Parent string               `json:"parent"`
			Tool   correlation.ToolCall `json:"tool"`
		}
		if err := json.Unmarshal(e.Data, &said); err != nil {
			return fmt.Errorf("reading event %d: %w", e.ID, err)
		}
		if e.Kind == traced {
			t.traces[e.Turn] = said.Parent
		} else {
			t.addTool(e.Turn, said.Tool, e.At)
		}
	}
	return nil
}

// addTool adds a report of a tool call.
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
	known.Merge(call)
}

// next returns the next turns that have ended, at most batchSize of them, with their spans; none at the end.
func (t *tracer) next(ctx context.Context) (spans []span, turns []correlation.EndedTurn, err error) {
	turns, err = t.store.EndedTurns(ctx, t.after, t.since, t.withText, batchSize)
	for _, one := range turns {
		t.after = one.ID
		spans = append(spans, t.spansOf(one)...)
	}
	return spans, turns, err
}

func (t *tracer) spansOf(v correlation.EndedTurn) []span {
	id := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", v.ACPID, v.ID, v.Started.UnixMilli()))
	trace, own, parent := id[:16], id[16:24], []byte(nil)
	if fields := strings.Split(t.traces[v.ID], "-"); len(fields) == 4 {
		trace, parent = unhex(fields[1]), unhex(fields[2])
	}
	report := t.reports[v.ID]
	s := span{
		TraceID: trace, SpanID: own, ParentID: parent, Name: "invoke_agent " + v.Harness, Kind: kindClient,
		Start: nano{v.Started}, End: nano{v.Ended},
		Attributes: attributes(
			"gen_ai.operation.name", "invoke_agent", "gen_ai.provider.name", provider(v.Harness),
			"gen_ai.agent.name", v.Harness, "gen_ai.agent.version", v.AgentVersion, "gen_ai.conversation.id", v.ACPID,
			"gen_ai.usage.input_tokens", report.Input, "gen_ai.usage.output_tokens", report.Output,
			"signet.project", v.Project, "signet.parent_key", v.ParentKey,
		),
	}
	if v.Stop != "" {
		s.Attributes = append(s.Attributes, attributes("gen_ai.response.finish_reasons", []string{v.Stop})...)
	}
	if v.Stop == "" {
		kind := "no_response"
		if v.Code != 0 {
			kind = strconv.Itoa(v.Code)
		}
		s.Attributes = append(s.Attributes, attributes("error.type", kind)...)
		s.Status = &status{Code: statusError}
	}
	if t.withText {
		s.Attributes = append(s.Attributes, attributes(
			"gen_ai.input.messages", message("user", v.User, ""),
			"gen_ai.output.messages", message("assistant", v.Assistant, v.Stop),
		)...)
	}
	for told := t.inserted[v.Session]; len(told) > 0 && !told[0].At.After(v.Ended); told = t.inserted[v.Session] {
		in := told[0]
		t.inserted[v.Session] = told[1:]
		s.Events = append(s.Events, spanEvent{At: nano{in.At}, Name: "signet.memory.inserted", Attributes: attributes(
			"signet.memory.source", in.Source, "signet.memory.outcome", string(in.Outcome),
			"signet.memory.bytes", int64(in.Bytes), "signet.memory.items", int64(len(in.Items)),
			"signet.memory.fetch_ms", in.FetchMS, "signet.memory.held_ms", in.HeldMS,
			"signet.memory.text", in.Text)})
	}
	all := []span{s}
	for i, tool := range t.tools[v.ID] {
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
