package rank

import "math"

// The parameters of BM25: saturation (k1) says how little repetitions of a term add, lengthNorm (b) how much more often
// a long passage must have it.
const (
	saturation = .9
	lengthNorm = .4
)

// features of a passage for a question, each from 0 to 1 or a little more.
type features struct {
	window   float64 // share of the question's terms in it and its neighbours, weighed
	before   float64 // the same in it and what was said before it
	session  float64 // the same in its conversation, relative to the best conversation
	answers  float64 // the same in the question before it, where it answers one
	terms    float64 // how many different terms of the question it has
	newNames float64 // names that the question does not have, where that asks for one
	question float64 // it is a question
	when     float64 // it has a time, and the question asks for one
	many     float64 // it has a number, and the question asks for one
	date     float64 // it was said at the time that the question names
	pairs    float64 // terms that follow each other in it as in the question
	// of what was said in no turn:
	first   float64 // the speaker speaks of themselves in it
	replies float64 // it comes after a question
	speaker float64 // it begins with a name that the question names

	place float64 // against it: it is narration, or a plan, said before a tool was called
}

// score is the weighed sum. The weights were fitted on halves of dialogues with questions, and rounded.
func (f features) score() float64 {
	return 4.5*math.Sqrt(f.window) + 3*f.before + 2.8*f.session + 2*f.answers + f.terms + f.newNames +
		.8*f.first - .9*f.question + .35*f.replies +
		2.3*f.when + 1.5*f.many + 5*f.date + .5*f.pairs + .9*f.speaker - f.place
}
