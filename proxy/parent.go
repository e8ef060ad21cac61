package proxy

import "context"

// adoptParent notes the session that a new one works for: an agent that calls
// agents has us stand inside ourselves. A session that the ledger knows has the parent that it had.
func (r *Relay) adoptParent(ctx context.Context, s *session) {
	find := r.journal.backend.Parent
	if find == nil {
		return
	}
	r.mu.Lock()
	orphan, cwd := s.row == 0 && s.who.ParentKey == "" && !s.off, s.who.Cwd
	r.mu.Unlock()
	if !orphan {
		return
	}
	key := find(ctx, cwd)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.who.ParentKey, s.open.ParentKey = key, key
}
