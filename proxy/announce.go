package proxy

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// announced gives the response that opened a session with the session's Signet key in the result's _meta, for the client
// to show. The key is not known before the ledger was asked, which the response waits for no longer than LookLimit.
func (r *Relay) announced(req request, line []byte) []byte {
	if !r.o.Announce || !opens(req.method) || req.session == nil { // none: sent before we knew whether we may edit
		return line
	}
	if at, ok := frame.Find(line, "result"); !ok || line[at.Start] != '{' {
		return line
	}
	s := req.session
	r.mu.Lock()
	ready, off := s.ready, s.off
	r.mu.Unlock()
	if off {
		return line
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.o.LookLimit)
	defer cancel()
	await(ctx, ready)
	r.mu.Lock()
	key := s.who.Key
	if s.off { // as has turned out meanwhile
		key = ""
	}
	r.mu.Unlock()
	if key == "" {
		return line
	}
	edited := add(line, quote(key), "result", "_meta", "signet.ai", "sessionKey")
	r.edited("announcement", s, line, edited)
	return edited
}

// opens reports whether a method's result is a session.
func opens(method string) bool {
	switch method {
	case methodNew, methodLoad, methodResume, methodFork:
		return true
	}
	return false
}
