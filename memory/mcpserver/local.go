package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

const (
	localTime = 5 * time.Second // of a call, waiting for other writers of the database included
	maxShown  = 2000            // bytes of a memory in a list; memory_get gives it whole
	maxAnswer = 8000            // bytes of the answer in the turn around it
	minID     = 6               // characters of an id by which something is forgotten for good
)

// local answers a call from the embedded store. Errors are for the agent to read.
func local(ctx context.Context, o Options, q toolCall) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	store, err := o.Store(ctx)
	if err != nil {
		o.Log.Warn().Err(err).Str("tool", q.tool.name).Msg("no store for a tool")
		return nil, fmt.Errorf("memory is unavailable (%w); continue without it", err)
	}
	answer, err := answerFrom(ctx, store, o.Rights, q)
	switch {
	case err == nil:
		return result(answer)
	case errors.Is(err, embedded.ErrNotFound):
		return nil, fmt.Errorf("%w: %q; memory_search and memory_list have the ids", embedded.ErrNotFound,
			chars.Cut(q.text("id"), 60))
	case errors.Is(err, embedded.ErrAmbiguous):
		return nil, fmt.Errorf("%w; send more of the id", embedded.ErrAmbiguous)
	case errors.Is(err, embedded.ErrTooLong):
		return nil, fmt.Errorf("the text is too long: %d bytes, the maximum is %d; keep the part that matters, or "+
			"save it in parts", len(q.text("content")), embedded.MaxContent)
	case errors.Is(err, embedded.ErrEmpty):
		return nil, errors.New("nothing left to save: private passages and secrets are never saved")
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("memory is busy, and nothing was changed; call again")
	}
	return nil, err
}

var errShortID = fmt.Errorf("send at least %d characters of the id: forgetting cannot be undone", minID)

// answerFrom returns the answer of a tool, which is shown as JSON.
func answerFrom(ctx context.Context, store *embedded.Store, rights Rights, q toolCall) (any, error) {
	type object = map[string]any
	if q.tool.name == "memory_forget" && len(q.text("id")) < minID {
		return nil, errShortID
	}
	if id := q.text("id"); id != "" { // a session is told of what it may not see that it does not exist
		if m, err := store.Get(ctx, id); err != nil {
			return nil, err
		} else if !store.Sees(q.who.Project, m) {
			return nil, embedded.ErrNotFound
		}
	}
	switch q.tool.name {
	case searchTool:
		found, err := searchIn(ctx, store, q.who, q.values)
		return object{"results": found}, err
	case storeTool:
		return storeFrom(ctx, store, rights, q)
	case "memory_get":
		return getFrom(ctx, store, q.text("id"))
	case "memory_list":
		filter := embedded.Filter{Type: q.text("type"), Limit: q.integer("limit"), Offset: q.integer("offset")}
		if !store.OtherProjects() {
			filter.Project, filter.Within = q.who.Project, true
		}
		all, err := store.List(ctx, filter)
		return object{"memories": shorten(all)}, err
	case "memory_modify":
		m, err := store.Modify(ctx, q.text("id"), embedded.Change{
			Content:    optional[string](q.values, "content"),
			Type:       optional[string](q.values, "type"),
			Tags:       optional[string](q.values, "tags"),
			Importance: optional[float64](q.values, "importance"),
			Source:     q.tool.name,
		})
		return object{"id": m.ID, "status": "updated"}, err
	case "memory_forget":
		return object{"id": q.text("id"), "status": "deleted"}, store.Forget(ctx, q.text("id"))
	case filesTool:
		files, err := filesIn(ctx, store, q)
		return object{"files": files}, err
	case feedbackTool:
		return rate(ctx, store, q.who, q.values)
	}
	return nil, fmt.Errorf("unknown tool %q", q.tool.name)
}

// storeFrom stores a memory.
func storeFrom(ctx context.Context, store *embedded.Store, rights Rights, q toolCall) (any, error) {
	importance := optional[float64](q.values, "importance")
	m, added, err := store.Add(ctx, embedded.Memory{
		Content: q.text("content"), Type: q.text("type"), Tags: q.text("tags"),
		Importance: deref(importance), ImportanceSet: importance != nil,
		Project: q.who.Project, Harness: q.who.Harness, Session: q.who.Key, Source: q.tool.name, Who: rights.who(),
	})
	status := "updated"
	if added {
		status = "stored"
	}
	return map[string]any{"id": m.ID, "status": status}, err
}

// filesIn returns the files of earlier work on what a call asks for, as they are shown.
func filesIn(ctx context.Context, store *embedded.Store, q toolCall) ([]embedded.FileWork, error) {
	files, err := store.Files(ctx, q.text("query"), q.who.Project, cmp.Or(q.integer("limit"), 10))
	for _, f := range files {
		for i := range f.Sessions {
			f.Sessions[i].Words = privacy.Neutralise(f.Sessions[i].Words)
		}
	}
	return append([]embedded.FileWork{}, files...), err
}

// searchIn returns what a store finds for a call, as it is shown.
func searchIn(ctx context.Context, store *embedded.Store, who memory.Session, v values) ([]embedded.Memory, error) {
	found, err := store.SearchAll(ctx, v.queries(), embedded.Query{
		Limit: v.integer("limit"), Type: v.text("type"), MinScore: deref(optional[float64](v, "min_score")),
		Project: who.Project, AllProjects: store.OtherProjects(),
	})
	return shorten(found), err
}

// getFrom returns a memory whole, with the turn around it.
func getFrom(ctx context.Context, store *embedded.Store, id string) (any, error) {
	m, err := store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	m.Content = privacy.Neutralise(m.Content)
	turn, err := store.Around(ctx, m.ID)
	if turn != nil {
		turn.User = privacy.Neutralise(chars.Cut(turn.User, maxShown))
		turn.Assistant = privacy.Neutralise(near(turn.Assistant, m.Content))
	}
	return struct {
		embedded.Memory
		Around *embedded.Turn `json:"around,omitempty"`
	}{m, turn}, err
}

// rate stores ratings, but for those of memories that the session may not see.
func rate(ctx context.Context, store *embedded.Store, who memory.Session, v values) (any, error) {
	ratings, _ := v["ratings"].(map[string]float64)
	seen := map[string]float64{}
	var hidden []string
	for id, rating := range ratings {
		if m, err := store.Get(ctx, id); err == nil && !store.Sees(who.Project, m) {
			hidden = append(hidden, id)
			continue
		}
		seen[id] = rating
	}
	unknown, err := store.Feedback(ctx, seen)
	unknown = append(unknown, hidden...)
	slices.Sort(unknown)
	return map[string]any{"recorded": len(ratings) - len(unknown), "unknown": unknown}, err
}

// shorten cuts long contents in a list, and neutralises them, as all that is shown to an agent. A nil list becomes an
// empty one, for JSON.
func shorten(all []embedded.Memory) []embedded.Memory {
	for i := range all {
		all[i].Content = privacy.Neutralise(all[i].Content)
		if len(all[i].Content) > maxShown {
			all[i].Content = chars.Cut(all[i].Content, maxShown) + " … (memory_get gives the rest)"
		}
	}
	return append([]embedded.Memory{}, all...)
}

// near returns at most maxAnswer bytes of an answer around a passage of it.
func near(answer, passage string) string {
	if len(answer) <= maxAnswer {
		return answer
	}
	first, _, _ := strings.Cut(passage, "\n")
	from := min(max(strings.Index(answer, first)-maxAnswer/4, 0), len(answer)-maxAnswer)
	from = chars.Boundary(answer, from)
	cut := chars.Cut(answer[from:], maxAnswer)
	before, after := "", ""
	if from > 0 {
		before = "… "
	}
	if from+len(cut) < len(answer) {
		after = " …"
	}
	return before + cut + after
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}
