package session

import (
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// wants reports whether the session is still to be given something that is fetched for it.
func (x *briefing) wants() bool {
	return x.state == correlation.Armed || x.state == correlation.IdentityGiven
}

// adopt takes over the state that the ledger has, unless what is in flight is our own.
func (x *briefing) adopt(state correlation.State) {
	if !x.sent() {
		x.state = state
	}
}

// sent reports whether a prompt of this connection carries a block, and waits for its response.
func (x *briefing) sent() bool { return x.held != nil && x.held.gone }

// plan returns the fetch that was begun, or else the one that is planned, which may be told how it is to be made.
func (x *briefing) plan() *Fetch {
	if x.fetch == nil {
		x.fetch = &Fetch{}
	}
	return x.fetch
}

// patient reports whether a prompt may wait for the memories, though it has the identity.
func (x *briefing) patient() bool { return x.fetch != nil && x.fetch.patient }

// use puts a fetch in the place of the one that was planned.
func (x *briefing) use(f *Fetch) {
	f.keyed, f.patient = true, x.patient()
	x.fetch = f
}

// retry drops a fetch that a prompt has missed because the source was not there, so that it begins again; it reports
// whether it did.
func (x *briefing) retry() bool {
	if x.fetch == nil || !x.fetch.missed || !x.fetch.retryable() || !x.wants() {
		return false
	}
	x.fetch = nil // the source never got its key: that can be used again
	return true
}

// late reports whether the memories of a session that has its identity are not there, and the next prompt will not wait
// for them.
func (x *briefing) late() bool {
	f := x.fetch
	switch {
	case !f.begun():
		return true
	case f.ended():
		return f.missed && f.err != nil
	}
	return f.missed || !f.patient
}

// forget makes the next prompt carry context again.
func (x *briefing) forget(whole bool) {
	before := x.plan()
	x.fetch = &Fetch{
		local: !whole || before.local && !before.begun(), keyed: before.keyed,
		patient: x.state == correlation.IdentityGiven,
	}
}

func (f *Fetch) begun() bool { return f != nil && f.step != planned }
func (f *Fetch) ended() bool { return f.begun() && f.step != fetching }

// came reports whether a fetch has got what it was to get.
func (f *Fetch) came() bool { return f.ended() && f.err == nil }

// retryable reports whether a fetch has failed because its source was not there: another may succeed.
func (f *Fetch) retryable() bool { return f.ended() && errors.Is(f.err, memory.ErrUnavailable) }

// Fetched reports whether a fetch of the session's context has ended.
func (s *Session) Fetched() bool { return s.context.fetch.ended() }
