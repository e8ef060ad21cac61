package rank

import (
	"bytes"
	"math"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// Values of Passage.Whose, relative to the session that asks.
const (
	ownProject   = iota // said in its project
	noProject           // said in no project
	otherProject        // said in another project
)

// A Passage is a passage to be ranked. The exported fields but Own, Score and By are what the database keeps of it.
type Passage struct {
	ID       int64
	Thread   int64 // the conversation in which its neighbours stand; 0: it has none
	Position float64
	Created  time.Time
	Traits   passage.Traits
	Turn     int64 // 0: a memory's
	ByUser   bool
	Size     int     // bytes of its text
	Length   float64 // in terms
	Whose    int
	Rating   float64
	Found    bool // found by its own words, not as a neighbour

	Own   float64 // the share of the prompt that it holds by itself
	Score float64
	By    *Passage // a newer one that says that it is no longer true, nil: there is none

	content string            // its terms, separated by spaces
	weights [maxAsked]float32 // of each asked term in it (BM25)
	terms   uint32            // which asked terms it has, a bit each
	pairs   int               // of asked terms that follow each other in it
	bearing float64           // of a short passage of the user: how well it bears on the prompt
	near    []*Passage        // itself and, once it is ranked, its neighbours
	features
}

// The parameters of BM25: saturation (k1) says how little repetitions of a term add, lengthNorm (b) how much more often
// a long passage must have it.
const (
	saturation = .9
	lengthNorm = .4
)

// Read notes what a passage holds of the question. content are the terms of its text as the index has them, about those
// of its context, which count half.
func (q *Query) Read(p *Passage, content string, about []byte) {
	p.content, p.near = content, []*Passage{p}
	var counts [maxAsked]float64
	last := -1
	for text := []byte(content); len(text) > 0; {
		var term []byte
		term, text, _ = bytes.Cut(text, space)
		i := q.find(term)
		if i >= 0 {
			counts[i]++
			if last >= 0 && i != last {
				p.pairs++
			}
		}
		last = i
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
		p.Own += q.asked[i].share * w
	}
}

var space = []byte(" ")

// features of a passage for a question, each from 0 to 1 or a little more.
type features struct {
	window   float64 // share of the question's terms in it and its neighbours, weighed
	before   float64 // the same in it and what was said before it
	session  float64 // the same in its conversation, relative to the best conversation
	answers  float64 // the same in the question before it, where it answers one
	question float64 // it is a question
	date     float64 // it was said at the time that the question names, or the day before or after
	pairs    float64 // terms of the question that follow each other in it
	place    float64 // against it: it is narration, said before a tool was called
	// Who speaks in a turn, to whom and when, is known; of what was imported only the words tell it.
	speaker float64 // it begins with a name that the question has
	replies float64 // it follows a question
}

// score is the weighed sum. The weights were fitted on halves of dialogues with questions, and rounded.
func (f features) score() float64 {
	return 4.5*math.Sqrt(f.window) + 3*f.before + 2.8*f.session + 2*f.answers + 5*f.date +
		.5*f.pairs - .9*f.question - f.place +
		.9*f.speaker + .35*f.replies
}
