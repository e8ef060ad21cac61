package privacy

import (
	"strings"
)

// A Stream makes text storable while it arrives, as Clean does with a whole text. What it returns may be written to
// disk. It holds back what cannot be judged yet: the end of an unfinished line, a span that is still open (a PEM block,
// <private>, a quote behind a secret's name), and the beginning of what the user marked private. It is not safe for
// concurrent use.
type Stream struct {
	passages Passages
	conceal  concealer
	known    recogniser
	redactor redactor
	in       strings.Builder // what was written and not looked at yet
}

// NewStream makes the stream of one answer. It takes out what the answer repeats of private, the passages that the user
// marked private.
func NewStream(private []string) *Stream {
	s := &Stream{}
	s.conceal.learn(private)
	return s
}

// Conceal adds passages that the user marked private. It does not reach what Ready has given before.
func (s *Stream) Conceal(private []string) { s.conceal.learn(private) }

// Recognise takes out what digests know, too, from here on.
func (s *Stream) Recognise(d *Digests) { s.known.digests = d }

// Write takes the next piece of text, which may begin and end anywhere.
func (s *Stream) Write(text string) { s.in.WriteString(text) }

// Ready returns what may be written to disk by now and was not given before. It costs as much as the new text is long.
func (s *Stream) Ready() string { return s.take(false) }

// End returns the rest. The stream is not used after it.
func (s *Stream) End() string { return s.take(true) }

// Skip is for a gap: text that is left out on purpose, or "" where it was lost. It returns what may be written of the
// text before the gap; a span that was open there is dropped. text is looked through for <private>. Of what follows the
// gap, the rest of a word is left out and, where the text was lost, the rest of a private passage that may have begun
// in it.
func (s *Stream) Skip(text string) string {
	said := s.passages.Add(s.in.String(), false)
	before := s.redactor.cut(s.known.add(s.conceal.add(said, true), true))
	s.in.Reset()
	s.passages.Add(text, false)
	s.passages.gap = text == "" && s.passages.depth == 0
	s.conceal.learn(s.passages.found)
	return before
}

func (s *Stream) take(end bool) string {
	text := s.in.String()
	s.in.Reset()
	text = s.passages.Add(text, end)
	s.conceal.learn(s.passages.found)
	s.passages.found = nil
	return s.redactor.add(s.known.add(s.conceal.add(text, end), end), end)
}
