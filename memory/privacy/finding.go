package privacy

import "strings"

const (
	space   = " \t\r\n\v\f"
	maxOpen = 64 << 10 // bytes of an unfinished span that are held back; a longer one is replaced as a whole
)

// A finding is a span of the text, text[start:end], that a placeholder is to replace.
type finding struct {
	start, end int
	kind       string
}

// findings gathers what the rules find, in any order and overlapping.
type findings struct {
	spans  []finding
	named  []finding // by a name beside them: of two that begin together the kind of the other counts
	public []finding // public PEM blocks and URLs, in which random strings are no secrets

	nameEnd int // of the last name that was looked at

	growing bool   // more text follows
	open    int    // where the first span begins that more text may lengthen or make a secret
	closes  string // the text that may end this span; empty where it is not known
}

func (f *findings) add(start, end int, kind string) {
	f.spans = append(f.spans, finding{start, end, kind})
}

func (f *findings) addNamed(start, end int, kind string) {
	f.named = append(f.named, finding{start, end, kind})
}

// wait notes a span that cannot be judged yet.
func (f *findings) wait(start int, closes string) {
	if f.growing && start < f.open {
		f.open, f.closes = start, closes
	}
}

// replace returns text[from:to] with placeholders for the spans.
func (f *findings) replace(text string, from, to int) string {
	var b strings.Builder
	done := from
	for _, s := range f.spans {
		start, end := max(s.start, from), min(s.end, to)
		if start >= end {
			continue
		}
		if start >= done {
			b.WriteString(text[done:start] + "[redacted:" + s.kind + "]")
		}
		done = max(done, end)
	}
	if done == from {
		return text[from:to]
	}
	b.WriteString(text[min(done, to):to])
	return b.String()
}
