package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// acpxName is what acpx calls itself.
const acpxName = "acpx"

// A compat does on the wire what acpx does for a harness that it recognises by its program's name (Compat).
type compat struct {
	o Compat

	mu       sync.Mutex      // guards what follows
	version  string          // of acpx
	acpx     bool            // whether the client is acpx
	requests map[string]bool // ids of the harness's requests whose refusal is to be replaced
}

// initialize edits acpx's initialize request to what acpx would send to this harness. Requests of other clients are
// returned as they are.
func (c *compat) initialize(line []byte, client, version string) []byte {
	c.mu.Lock()
	c.acpx, c.version = client == acpxName, version
	c.mu.Unlock()
	if client != acpxName {
		return line
	}
	if c.o.ClientInfo != nil {
		if at, ok := frame.Find(line, "params", "clientInfo"); ok {
			line = frame.Replace(line, at, c.o.ClientInfo)
		}
	}
	for key, at := range frame.Members(c.o.ClientMeta, frame.Span{End: len(c.o.ClientMeta)}) {
		line = add(line, at.Of(c.o.ClientMeta), "params", "clientCapabilities", "_meta", string(key))
	}
	return line
}

// newSession edits a session/new request to what this version of acpx would send to this harness.
func (c *compat) newSession(line []byte) []byte {
	c.mu.Lock()
	acpx, version := c.acpx, c.version
	c.mu.Unlock()
	if !acpx || c.o.SettingSources == nil || !leavesUserSettings(version) {
		return line
	}
	sources, err := json.Marshal(c.o.SettingSources)
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
func (c *compat) noteRequest(h *frame.Head) {
	if !answerable(h.ID) || !slices.Contains(c.o.Answers, string(h.Method)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acpx {
		c.requests[idKey(h.ID)] = true
	}
}

// refusal reports whether a frame is the client's error response to a noted request. The request is then answered.
func (c *compat) refusal(h *frame.Head) bool {
	if len(c.o.Answers) == 0 || h.Kind != frame.Object || len(h.Method) > 0 || !h.Error && !h.Result {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := idKey(h.ID)
	if !c.requests[key] {
		return false
	}
	delete(c.requests, key)
	return h.Error
}
