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

// A compat does on the wire what acpx would do for a harness that it knows.
type compat struct {
	o Compat

	mu      sync.Mutex // guards what follows
	version string     // of acpx
	acpx    bool       // the client is acpx
	asked   map[string]bool
}

func newCompat(o Compat) *compat { return &compat{o: o, asked: map[string]bool{}} }

// needs adds to what has to be known of a frame what Answers have to know.
func (c *compat) needs(plain func([]byte) frame.Need) func([]byte) frame.Need {
	if len(c.o.Answers) == 0 {
		return plain
	}
	return func(method []byte) frame.Need {
		if len(method) == 0 || slices.Contains(c.o.Answers, string(method)) {
			return plain(method) | frame.NeedID
		}
		return plain(method)
	}
}

// initialize gives a client's initialize request as acpx words it for this harness, if the client is acpx.
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
		line = add(line, at.Of(c.o.ClientMeta), "params", "clientCapabilities", "_meta", key)
	}
	return line
}

// newSession gives a session/new request as this version of acpx words it for this harness.
func (c *compat) newSession(line []byte) []byte {
	c.mu.Lock()
	acpx, version := c.acpx, c.version
	c.mu.Unlock()
	if !acpx || c.o.SettingSources == nil || !isolates(version) {
		return line
	}
	sources, err := json.Marshal(c.o.SettingSources)
	if err != nil { // strings always encode
		return line
	}
	return add(line, sources, "params", "_meta", "claudeCode", "options", "settingSources")
}

// isolates reports whether a version of acpx keeps Claude away from the
// user's settings: since acpx#384, which came after 0.10. With an older one Claude runs as it would without us.
func isolates(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return n == 2 && (major > 0 || minor > 10)
}

// asks notes a request of the harness whose refusal is to become {}.
func (c *compat) asks(h *frame.Head) {
	if !usable(h.ID) || !slices.Contains(c.o.Answers, string(h.Method)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acpx {
		c.asked[idKey(h.ID)] = true
	}
}

// refusal reports whether a frame is the client's refusal of such a request, which is then answered.
func (c *compat) refusal(h *frame.Head) bool {
	if len(c.o.Answers) == 0 || h.Kind != frame.Object || len(h.Method) > 0 || !h.Error && !h.Result {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := idKey(h.ID)
	if !c.asked[key] {
		return false
	}
	delete(c.asked, key)
	return h.Error
}

// accepted is what a refusal becomes.
func accepted(id []byte) []byte {
	return append(append([]byte(`{"jsonrpc":"2.0","result":{},"id":`), id...), "}\n"...)
}
