package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

const (
	localTime = 5 * time.Second // of a call to the database, waiting for other writers included
	mostShown = 2000            // bytes of a memory in a list; memory_get gives it whole
)

// local answers a memory tool from the embedded store. Errors are for the agent to read.
func (s *Server) local(ctx context.Context, who memory.Session, t tool, v values) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	store, err := s.o.Store(ctx)
	if err != nil {
		s.o.Log.Warn().Err(err).Str("tool", t.name).Msg("no store for a tool")
		return nil, fmt.Errorf("there is no memory at the moment (%w); go on without it", err)
	}
	answer, err := answerFrom(ctx, store, who, t, v)
	switch {
	case err == nil:
		return result(answer)
	case errors.Is(err, embedded.ErrNotFound):
		return nil, fmt.Errorf("%w: %q; memory_search and memory_list give ids", embedded.ErrNotFound, clip(v.text("id"), 60))
	case errors.Is(err, embedded.ErrAmbiguous):
		return nil, fmt.Errorf("%w; give more of it", embedded.ErrAmbiguous)
	case errors.Is(err, embedded.ErrTooLong):
		return nil, fmt.Errorf("the text is too long: %d bytes, and %d fit; keep the part that matters, or store it in parts", len(v.text("content")), embedded.MaxContent)
	case errors.Is(err, embedded.ErrEmpty):
		return nil, errors.New("nothing is left to keep: private passages and secrets are not stored")
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("the memory is busy and nothing was changed; call again")
	}
	return nil, err
}

func answerFrom(ctx context.Context, store *embedded.Store, who memory.Session, t tool, v values) (any, error) {
	type object = map[string]any
	if id := v.text("id"); id != "" { // what a session may not see is not there for it
		if m, err := store.Get(ctx, id); err != nil {
			return nil, err
		} else if !store.Sees(who.Project, m) {
			return nil, embedded.ErrNotFound
		}
	}
	switch t.name {
	case "memory_search":
		found, err := store.Search(ctx, embedded.Query{
			Text: v.text("query"), Limit: v.whole("limit"), Type: v.text("type"), MinScore: deref(given[float64](v, "min_score")),
			Project: who.Project, AllProjects: store.OtherProjects(),
		})
		return object{"results": shorten(found)}, err
	case "memory_store":
		importance := given[float64](v, "importance")
		m, added, err := store.Add(ctx, embedded.Memory{
			Content: v.text("content"), Type: v.text("type"), Tags: v.text("tags"), Importance: deref(importance), Weighed: importance != nil,
			Project: who.Project, Harness: who.Harness, Session: who.Key, Source: t.name, Origin: "assistant",
		})
		return object{"id": m.ID, "status": map[bool]string{true: "stored", false: "updated"}[added]}, err
	case "memory_get":
		m, err := store.Get(ctx, v.text("id"))
		m.Content = memory.Neutralise(m.Content)
		return m, err
	case "memory_list":
		filter := embedded.Filter{Type: v.text("type"), Limit: v.whole("limit"), Offset: v.whole("offset")}
		if !store.OtherProjects() {
			filter.Project, filter.Within = who.Project, true
		}
		all, err := store.List(ctx, filter)
		return object{"memories": shorten(all)}, err
	case "memory_modify":
		m, err := store.Modify(ctx, v.text("id"), embedded.Change{
			Content: given[string](v, "content"), Type: given[string](v, "type"), Tags: given[string](v, "tags"),
			Importance: given[float64](v, "importance"), Source: t.name,
		})
		return object{"id": m.ID, "status": "updated"}, err
	case "memory_forget":
		return object{"id": v.text("id"), "status": "deleted"}, store.Forget(ctx, v.text("id"))
	case "memory_feedback":
		ratings, _ := v["ratings"].(map[string]float64)
		unknown, err := store.Feedback(ctx, ratings)
		return object{"recorded": len(ratings) - len(unknown), "unknown": unknown}, err
	}
	return nil, fmt.Errorf("no memory tool is called %q", t.name)
}

// shorten cuts what is long in a list, and makes an empty list one. Like all that is shown to an agent, content is neutralised.
func shorten(all []embedded.Memory) []embedded.Memory {
	for i := range all {
		all[i].Content = memory.Neutralise(all[i].Content)
		if len(all[i].Content) > mostShown {
			all[i].Content = clip(all[i].Content, mostShown) + " … (memory_get gives the rest)"
		}
	}
	return append([]embedded.Memory{}, all...)
}

// clip cuts s to at most n bytes between two characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// result shows an answer as JSON text, as the daemon's tools do.
func result(answer any) (*mcp.CallToolResult, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	return say(string(bytes.TrimSpace(b.Bytes()))), nil
}

func say(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}

// failure is an error that the agent sees and can do something about.
func failure(err error) *mcp.CallToolResult {
	r := say(err.Error())
	r.IsError = true
	return r
}
