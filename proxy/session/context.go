package session

import "github.com/Signet-AI/signet-acp-proxy/correlation"

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

// use puts a fetch in the place of the one that was planned.
func (x *briefing) use(f *Fetch) {
	f.keyed, f.patient = true, x.fetch.patient
	x.fetch = f
}

// late reports whether the memories of a session that has its identity are not there, and the next prompt will not wait
// for them.
func (x *briefing) late() bool {
	f := x.fetch
	switch {
	case f.step == planned:
		return true
	case f.step >= fetched:
		return f.missed && f.err != nil
	}
	return f.missed || !f.patient
}

// forget makes the next prompt carry context again.
func (x *briefing) forget(whole bool) {
	before := x.fetch
	x.fetch = &Fetch{
		local: !whole || before.local && before.step == planned, keyed: before.keyed,
		patient: x.state == correlation.IdentityGiven,
	}
}

// Fetched reports whether a fetch of the session's context has ended.
func (s *Session) Fetched() bool { return s.context.fetch.step >= fetched }
