package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A Seek asks the ledger for a block by its id, which a harness shows in a session that has no blocks of its own: the
// ledger has the session under another id, or the harness has copied the conversation without saying so. BlockFound
// follows.
type Seek struct {
	Harness, Block string
	ID             string   // under which the block is shown
	Listed         []string // in the session's folder, ID among them: it may be another name of the block's session
	Cwd            string   // that folder

	session *Session
}

func (c *Connection) seek(s *Session, block string) *Seek {
	e := &s.exists
	q := &Seek{Harness: c.harness(), Block: block, ID: s.ID(), Cwd: e.Open.Cwd, session: s}
	if cwd, ok := c.listed[s.ID()]; !ok || cwd != e.Open.Cwd || e.ledger != unknown || e.recorded || !e.opening {
		return q
	}
	for id, cwd := range c.listed {
		if cwd == e.Open.Cwd {
			q.Listed = append(q.Listed, id)
		}
	}
	return q
}

// BlockFound is what the ledger has for a Seek.
type BlockFound struct {
	Of     correlation.Session // that was given the block; zero: none is known
	Alias  bool                // it is the one in which the block is shown
	Blocks []correlation.Injection
	Late   bool // the ledger did not answer in time
}

// BlockFound takes what the ledger has for a Seek.
func (c *Connection) BlockFound(q *Seek, f BlockFound) {
	s := q.session
	switch {
	case f.Late && s.exists.silence == hidden:
		c.deaf = true
	case f.Late:
		s.history.replay.deaf = true
	case f.Alias && !s.exists.recorded && !c.holds(f.Of.ID):
		c.alias(s, f)
	default:
		for _, in := range slices.Backward(f.Blocks) { // the newest come first; a replay may show them
			in.Title = ""
			s.history.blocks = append(s.history.blocks, &Injection{Injection: in, borrowed: true})
		}
	}
}

// holds reports whether this connection has a session open, by its row.
func (c *Connection) holds(row int64) bool {
	for _, s := range c.sessions {
		if s.exists.live && s.exists.row == row {
			return true
		}
	}
	return false
}

// alias makes a session that is being loaded the one that the ledger has under another id.
func (c *Connection) alias(s *Session, f BlockFound) {
	s.exists.Open.AliasOf, s.exists.ledger = f.Of.ID, known
	if s.context.fetch.step != planned { // under a key that is not the session's
		c.dropContext(s)
		s.context.fetch = &Fetch{}
	}
	s.exists.Open.Key = ""
	c.adopt(s, f.Of, f.Blocks)
	c.touch(s)
}

// maxListed is how many sessions are kept of what a harness has listed.
const maxListed = 4096

// Listed notes the folders of sessions that the harness has listed, by their ids.
func (c *Connection) Listed(folders map[string]string) {
	if c.listed == nil {
		c.listed = map[string]string{}
	}
	for id, cwd := range folders {
		if len(c.listed) < maxListed {
			c.listed[id] = cwd
		}
	}
}
