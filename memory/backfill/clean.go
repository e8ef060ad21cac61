package backfill

import "github.com/Signet-AI/signet-acp-proxy/memory/privacy"

// Clean gives a turn as it may be stored: without what the user marked private, also where the agent repeats it, and
// without secrets.
func Clean(t Turn) Turn {
	user, private := privacy.WithoutPrivate(t.User)
	t.User = privacy.Redact(user)
	t.Assistant = privacy.Storable(t.Assistant, nil, private, false)
	for i, call := range t.Tools {
		t.Tools[i].Title = privacy.Clean(call.Title, private, false)
		for n, path := range call.Paths {
			call.Paths[n] = privacy.Clean(path, private, false)
		}
	}
	return t
}
