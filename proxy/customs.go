package proxy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// Customs are what acpx does for a harness that it knows by its program's
// name. Behind us it does not see that name, so that they are ours to keep, on
// the wire and for acpx only: other clients mean what they send (facts/acpx.md, section 3).
type Customs struct {
	ClientInfo     json.RawMessage // in place of initialize's clientInfo; nil leaves it
	ClientMeta     json.RawMessage // an object whose members go into initialize's clientCapabilities._meta
	SettingSources []string        // of session/new's _meta.claudeCode.options, where there are none; not sent by acpx before 0.11

	// Answers are the harness's requests that acpx answers with {}, and that it
	// refuses where it does not know the harness: its refusal is turned into
	// that answer. So the client has still answered, in its place among its frames, and we have made up nothing.
	Answers []string
}

// needs adds to what has to be known of a frame what Answers have to know.
func (c Customs) needs(plain func([]byte) frame.Need) func([]byte) frame.Need {
	if len(c.Answers) == 0 {
		return plain
	}
	return func(method []byte) frame.Need {
		if len(method) == 0 || slices.Contains(c.Answers, string(method)) {
			return plain(method) | frame.NeedID
		}
		return plain(method)
	}
}

// greet gives an initialize request as acpx words it for this harness.
func (c Customs) greet(line []byte) []byte {
	if c.ClientInfo != nil {
		if at, ok := frame.Find(line, "params", "clientInfo"); ok {
			line = frame.Replace(line, at, c.ClientInfo)
		}
	}
	for key, at := range frame.Members(c.ClientMeta, frame.Span{End: len(c.ClientMeta)}) {
		line = add(line, at.Of(c.ClientMeta), "params", "clientCapabilities", "_meta", key)
	}
	return line
}

// settle gives a session/new request as a version of acpx words it for this harness.
func (c Customs) settle(line []byte, version string) []byte {
	if c.SettingSources == nil || !isolates(version) {
		return line
	}
	sources, err := json.Marshal(c.SettingSources)
	if err != nil { // strings always encode
		return line
	}
	return add(line, sources, "params", "_meta", "claudeCode", "options", "settingSources")
}

// add adds a member that is not there.
func add(line, value []byte, path ...string) []byte {
	if edited, ok := frame.Add(line, value, path...); ok {
		return edited
	}
	return line
}

// isolates reports whether a version of acpx keeps Claude away from the
// user's settings: since acpx#384, which came after 0.10. With an older one Claude runs as it would without us.
func isolates(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return n == 2 && (major > 0 || minor > 10)
}

// isAcpx reports whether the client is acpx. The relay's lock is held.
func (r *Relay) isAcpx() bool { return r.client.name == acpxName }

// question notes a request of the harness whose refusal is to become {}. The relay's lock is held.
func (r *Relay) question(h *frame.Head) {
	if r.isAcpx() && usable(h.ID) && slices.Contains(r.o.Customs.Answers, string(h.Method)) {
		r.questions[idKey(h.ID)] = true
	}
}

// refusal reports whether a frame is the client's refusal of such a request. The relay's lock is held.
func (r *Relay) refusal(h *frame.Head) bool {
	if len(h.Method) > 0 || !h.Error && !h.Result || !r.questions[idKey(h.ID)] {
		return false
	}
	delete(r.questions, idKey(h.ID))
	return h.Error
}

// refused reports whether the frame at hand is a refusal that is to become {}.
func (u *up) refused() bool {
	u.r.mu.Lock()
	defer u.r.mu.Unlock()
	return u.head.Kind == frame.Object && u.r.refusal(&u.head)
}

// concession is what a refusal becomes.
func concession(id []byte) []byte {
	return append(append([]byte(`{"jsonrpc":"2.0","result":{},"id":`), id...), "}\n"...)
}
