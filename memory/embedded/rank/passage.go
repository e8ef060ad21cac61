package rank

import (
	"bytes"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// Whose a passage is, for the session that asks.
const (
	Own      = iota // of its project
	Anybodys        // of no project
	Others          // of another
)

// A Passage is one as it is ranked. The exported fields are what the index keeps of it.
type Passage struct {
	ID       int64
	Thread   int64 // whose neighbours; 0: it has none
	Position float64
	Created  time.Time
	Traits   passage.Traits
	Length   float64 // in terms
	Whose    int
	Given    int // sessions that it was told to
	Used     int // and of them those that used it
	Rating   float64
	Found    bool // by itself, not as a neighbour

	Score    float64
	Outdated bool // a newer one says that it is not so any more

	content string             // its terms
	weights [mostAsked]float32 // of each asked term, saturating (BM25)
	terms   uint32             // which of them it has, a bit each
	matched int                // different terms
	pairs   int                // of terms that follow each other in the question, too
	opens   bool               // begins with a name that the question names
	shared  int                // names of the question in it
	own     float64            // what it holds of the question by itself
	wide    float64            // what it and a wider neighbourhood hold
	met     float64            // terms of the question in it and beside it
	named   bool               // an identifier among them
	near    []*Passage         // itself and, once it is ranked, its neighbours
	features
}

// Read notes what a passage holds of the question, from the terms that the index keeps of its text and of what it was
// said about.
func (q *Query) Read(p *Passage, content string, about []byte) {
	p.content, p.near = content, []*Passage{p}
	var counts [mostAsked]float64
	last, first := -1, true
	for text := []byte(content); len(text) > 0; {
		var term []byte
		term, text, _ = bytes.Cut(text, space)
		i := q.find(term)
		if i >= 0 {
			counts[i]++
			p.opens = p.opens || first && q.asked[i].Name
			if last >= 0 && i != last {
				p.pairs++
			}
		}
		last, first = i, false
	}
	for len(about) > 0 {
		var term []byte
		term, about, _ = bytes.Cut(about, space)
		if i := q.find(term); i >= 0 {
			counts[i] += .5
		}
	}
	norm := saturation * (1 - lengthNorm + lengthNorm*p.Length/q.average)
	for i := range q.asked {
		n := counts[i]
		if n == 0 {
			continue
		}
		w := n * (1 + saturation) / (n + norm)
		p.weights[i] = float32(w)
		p.terms |= 1 << i
		p.own += q.asked[i].share * w
		p.matched++
		if q.asked[i].Name {
			p.shared++
		}
	}
}

var space = []byte(" ")
