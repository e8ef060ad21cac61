package backfill

import "github.com/Signet-AI/signet-acp-proxy/memory/privacy"

// Clean returns a turn as it may be stored: without what the user marked private, also where the agent repeats it, and
// without secrets. earlier is what was private in the conversation before it, all what is from then on.
func Clean(t Turn, earlier []string) (kept Turn, all []string) {
	user, private := privacy.WithoutPrivate(t.User)
	private = append(earlier, private...)
	t.User = privacy.Redact(user)
	t.Assistant = privacy.Storable(t.Assistant, nil, private, false)
	for i, call := range t.Tools {
		t.Tools[i].Title = privacy.Clean(call.Title, private, false)
		for n, path := range call.Paths {
			call.Paths[n] = privacy.Clean(path, private, false)
		}
	}
	return t, private
}
