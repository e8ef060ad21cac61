package privacy

import (
	"strings"
)

// A Stream makes text storable while it arrives, as Storable does with a whole one. What it gives may be written to
// disk; what it holds back is not on its way yet: the end of an unfinished line, a span that is still open (a PEM
// block, <private>, a quote behind a secret's name), the beginning of what the user marked private, and lines that may
// be an echo. It is not safe for concurrent use.
type Stream struct {
	echo     *echo
	passages passages
	conceal  concealer
	redactor redactor
	in       strings.Builder // what was written and not looked at yet
}

// NewStream makes the stream of one answer. It takes out what the answer repeats of blocks, which are our own, and of
// what the user marked private.
func NewStream(blocks, private []string) *Stream {
	s := &Stream{echo: newEcho(blocks)}
	s.conceal.learn(private)
	return s
}

// Conceal adds passages that the user marked private. What Ready has given stays.
func (s *Stream) Conceal(private []string) { s.conceal.learn(private) }

// Write takes what comes next, cut wherever it may be.
func (s *Stream) Write(text string) { s.in.WriteString(text) }

// Ready gives what may be written to disk now and was not given before. Its cost is that of the text which is new.
func (s *Stream) Ready() string { return s.take(false) }

// End gives the rest.
func (s *Stream) End() string { return s.take(true) }

// Skip takes text that is to be left out, "" where nobody knows it, and gives what may be written of the text before
// it. What is known is looked through for <private>. Of what follows, the rest of the word goes, and so does what ends
// a passage that may have begun in a text that nobody knows. A span that was open before is given up.
func (s *Stream) Skip(text string) string {
	before := s.redactor.cut(s.conceal.add(s.passages.add(s.echo.add(s.in.String(), true), false), true))
	s.in.Reset()
	s.passages.add(text, false)
	s.passages.gap = text == "" && s.passages.depth == 0
	s.conceal.learn(s.passages.found)
	return before
}

func (s *Stream) take(end bool) string {
	text := s.in.String()
	s.in.Reset()
	text = s.passages.add(s.echo.add(text, end), end)
	s.conceal.learn(s.passages.found)
	s.passages.found = nil
	return s.redactor.add(s.conceal.add(text, end), end)
}
