package proxy

import (
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// reported has the members of all forms in which harnesses report usage: `usage_update`, the draft `usage` of a
// prompt's result, and gemini's `_meta.quota` there (docs/events.md, "`usage`").
type reported struct {
	Input       *int64 `json:"inputTokens"`
	Output      *int64 `json:"outputTokens"`
	Thought     *int64 `json:"thoughtTokens"`
	CachedRead  *int64 `json:"cachedReadTokens"`
	CachedWrite *int64 `json:"cachedWriteTokens"`
	Total       *int64 `json:"totalTokens"`

	Used *int64 `json:"used"`
	Size *int64 `json:"size"`
	Cost *struct {
		Amount   *float64 `json:"amount"`
		Currency string   `json:"currency"`
	} `json:"cost"`

	Count *struct {
		Input  *int64 `json:"input_tokens"`
		Output *int64 `json:"output_tokens"`
	} `json:"token_count"`
}

// The form in which usage was reported, as the ledger stores it.
const (
	byUpdate = "update"
	byResult = "result"
	byQuota  = "quota"
)

// usageAt reads the usage in the object at a path; ok is false if there is none, or it is longer than maxUsage.
func usageAt(reporter string, line []byte, path ...string) (u correlation.Usage, ok bool) {
	at, ok := frame.Find(line, path...)
	if !ok || line[at.Start] != '{' || at.End-at.Start > maxUsage {
		return u, false
	}
	var r reported
	if json.Unmarshal(at.Of(line), &r) != nil {
		return u, false
	}
	u = correlation.Usage{
		Reporter: reporter, Input: r.Input, Output: r.Output, Thought: r.Thought, Total: r.Total,
		CachedRead: r.CachedRead, CachedWrite: r.CachedWrite,
		ContextUsed: r.Used, ContextSize: r.Size, Raw: append(json.RawMessage(nil), at.Of(line)...),
	}
	if r.Cost != nil {
		u.Cost, u.Currency = r.Cost.Amount, r.Cost.Currency
	}
	if r.Count != nil {
		u.Input, u.Output = r.Count.Input, r.Count.Output
	}
	return u, true
}
