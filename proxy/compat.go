package proxy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// acpxName is what acpx calls itself.
const acpxName = "acpx"

// initialize edits acpx's initialize request to what acpx would send to this harness.
func (o Compat) initialize(line []byte) []byte {
	if o.ClientInfo != nil {
		if at, ok := frame.Find(line, "params", "clientInfo"); ok {
			line = frame.Replace(line, at, o.ClientInfo)
		}
	}
	for key, at := range frame.Members(o.ClientMeta, frame.Span{End: len(o.ClientMeta)}) {
		line = add(line, at.Of(o.ClientMeta), "params", "clientCapabilities", "_meta", string(key))
	}
	return line
}

// newSession edits a session/new request to what this version of acpx would send to this harness.
func (o Compat) newSession(line []byte, version string) []byte {
	if o.SettingSources == nil || !leavesUserSettings(version) {
		return line
	}
	sources, err := json.Marshal(o.SettingSources)
	if err != nil { // strings always encode
		return line
	}
	return add(line, sources, "params", "_meta", "claudeCode", "options", "settingSources")
}

// leavesUserSettings reports whether a version of acpx makes Claude leave the user's settings alone: since acpx#384,
// which came after 0.10. With an older one Claude runs as it would without us.
func leavesUserSettings(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return n == 2 && (major > 0 || minor > 10)
}

// noteRequest notes a request of the harness that acpx would answer with {}.
func (e *env) noteRequest(h *frame.Head) {
	if answerable(h.ID) && slices.Contains(e.o.Compat.Answers, string(h.Method)) && e.client.Load().Name == acpxName {
		e.refusable.Store(idKey(h.ID), true)
	}
}

// refusal reports whether a frame is the client's error response to a noted request. The request is then answered.
func (e *env) refusal(h *frame.Head) bool {
	if len(e.o.Compat.Answers) == 0 || h.Kind != frame.Object || len(h.Method) > 0 || !h.Error && !h.Result {
		return false
	}
	_, noted := e.refusable.LoadAndDelete(idKey(h.ID))
	return noted && h.Error
}
