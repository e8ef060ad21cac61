package rank

import "math"

// Saturation of BM25: how fast it counts less that a term comes again, and how much a long passage has to say it more
// often.
const (
	saturation = .9
	lengthNorm = .4
)

// features of a passage for a question, each 0 to 1 or little more.
type features struct {
	window   float64 // what it and its neighbours hold of the question
	before   float64 // it and what was said before it
	session  float64 // the conversation, beside the best
	answers  float64 // what the question before it holds
	terms    float64 // different terms of the question in it
	newNames float64 // names that the question has not, where it asks for one
	first    float64 // the speaker speaks of himself
	question float64 // it is one
	replies  float64 // it comes after one
	when     float64 // it has a time, and that is asked for
	many     float64 // a number
	date     float64 // it was said when the question says
	pairs    float64 // of words as the question has them
	speaker  float64 // it begins with a name that the question names
}

// score weighs them. The weights were fitted on dialogues with questions, by halves, and rounded.
func (f features) score() float64 {
	return 4.5*math.Sqrt(f.window) + 3*f.before + 2.8*f.session + 2*f.answers + f.terms + f.newNames +
		.8*f.first - .9*f.question + .35*f.replies +
		2.3*f.when + 1.5*f.many + 5*f.date + .5*f.pairs + .9*f.speaker
}
