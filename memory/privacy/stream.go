package privacy

// A Stream makes text storable while it arrives, as Clean does with a whole text. What it returns may be written to
// disk. It holds back what cannot be judged yet: the end of an unfinished line, a span that is still open (a PEM block,
// <private>, a quote behind a secret's name), and the beginning of what the user marked private. It is not safe for
// concurrent use.
type Stream struct {
	passages Passages
	conceal  concealer
	known    *Digests
	held     string // what may be the beginning of a passage that known knows
	redactor redactor
}

// Conceal takes out from here on what the text repeats of private, the passages that the user marked private, and what
// known knows. It does not reach what was given before.
func (s *Stream) Conceal(private []string, known *Digests) {
	s.conceal.learn(private)
	s.known = known
}

// Write takes the next piece of text, which may begin and end anywhere, and returns what may be written to disk by now
// and was not given before. It costs as much as the new text is long.
func (s *Stream) Write(text string) string { return s.take(text, false) }

// End returns the rest. The stream is not used after it.
func (s *Stream) End() string { return s.take("", true) }

// Skip is for a gap, where text was lost. It returns what may be written of the text before it; a span that was open
// there is dropped. Of what follows it the rest of a word is left out, and the rest of a private passage that may have
// begun in the gap.
func (s *Stream) Skip() string {
	said, _ := s.known.conceal(s.held+s.conceal.add("", true), true)
	if !s.passages.gap { // else it is text that waits behind another gap
		s.passages.part = ""
	}
	s.held, s.passages.gap = "", s.passages.depth == 0
	return s.redactor.cut(said)
}

func (s *Stream) take(text string, end bool) (given string) {
	text = s.passages.Add(text, end)
	s.conceal.learn(s.passages.Found)
	s.passages.Found = nil
	given, s.held = s.known.conceal(s.held+s.conceal.add(text, end), end)
	return s.redactor.add(given, end)
}
