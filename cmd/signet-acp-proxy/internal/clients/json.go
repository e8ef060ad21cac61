package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A jsonFile is a person's JSON file, edited by inserting and cutting text, so that every other byte stays. remove
// undoes insert, to the byte.
type jsonFile struct {
	text     []byte
	comments bool // comments and trailing commas are allowed
	at       int  // the position of the parser
}

// An object is the position of an object and of its members in the text.
type object struct {
	start, end int // braces included
	members    []member
}

type member struct {
	key        string
	start      int // of the key
	value, end int // of the value
	comma      int // of the comma behind it; -1: none
}

// last gives the last member with a name, which is the one that counts.
func (o object) last(key string) (i int, ok bool) {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key == key {
			return i, true
		}
	}
	return 0, false
}

// root parses the file, which must be one object.
func (f *jsonFile) root() (object, error) {
	if !f.comments && !json.Valid(f.text) {
		var v any
		err := json.Unmarshal(f.text, &v)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			f.at = int(syntax.Offset)
		}
		return object{}, f.errorHere("%v", err)
	}
	f.at = 0
	if err := f.space(); err != nil {
		return object{}, err
	}
	o, err := f.object(f.at)
	if err != nil {
		return object{}, err
	}
	f.at = o.end
	if err := f.space(); err != nil {
		return object{}, err
	}
	if f.at < len(f.text) {
		return object{}, f.errorHere("something follows the object")
	}
	return o, nil
}

// errorHere makes an error with the line of the parser's position.
func (f *jsonFile) errorHere(format string, args ...any) error {
	line := 1 + bytes.Count(f.text[:min(f.at, len(f.text))], []byte("\n"))
	return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
}

func (f *jsonFile) peek() byte {
	if f.at < len(f.text) {
		return f.text[f.at]
	}
	return 0
}

// space skips white space, and comments where they are allowed.
func (f *jsonFile) space() error {
	for f.at < len(f.text) {
		switch rest := f.text[f.at:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			f.at++
		case f.comments && bytes.HasPrefix(rest, []byte("//")):
			if n := bytes.IndexByte(rest, '\n'); n >= 0 {
				f.at += n
			} else {
				f.at = len(f.text)
			}
		case f.comments && bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest, []byte("*/"))
			if n < 0 {
				return f.errorHere("a comment is not closed")
			}
			f.at += n + 2
		default:
			return nil
		}
	}
	return nil
}

// object parses the object at a position.
func (f *jsonFile) object(at int) (object, error) {
	f.at = at
	o := object{start: at}
	if f.peek() != '{' {
		return o, f.errorHere("an object was expected")
	}
	f.at++
	for {
		if err := f.space(); err != nil {
			return o, err
		}
		if f.peek() == '}' && (f.comments || len(o.members) == 0 || o.members[len(o.members)-1].comma < 0) {
			f.at++
			o.end = f.at
			return o, nil
		}
		if n := len(o.members); n > 0 && o.members[n-1].comma < 0 {
			return o, f.errorHere("a comma or } was expected")
		}
		m := member{start: f.at, comma: -1}
		if err := f.token(&m.key); err != nil {
			return o, err
		}
		if err := f.space(); err != nil {
			return o, err
		}
		if f.peek() != ':' {
			return o, f.errorHere("a colon was expected")
		}
		f.at++
		if err := f.space(); err != nil {
			return o, err
		}
		m.value = f.at
		if err := f.skip(); err != nil {
			return o, err
		}
		m.end = f.at
		if err := f.space(); err != nil {
			return o, err
		}
		if f.peek() == ',' {
			m.comma = f.at
			f.at++
		}
		o.members = append(o.members, m)
	}
}

// skip parses a value.
func (f *jsonFile) skip() error {
	switch f.peek() {
	case '{':
		_, err := f.object(f.at)
		return err
	case '[':
		_, err := f.array(f.at)
		return err
	}
	return f.token(nil)
}

// array gives the positions of an array's elements.
func (f *jsonFile) array(at int) (elements []int, err error) {
	f.at = at + 1
	for comma := true; ; {
		if err := f.space(); err != nil {
			return nil, err
		}
		switch {
		case f.peek() == ']':
			f.at++
			return elements, nil
		case !comma:
			return nil, f.errorHere("a comma or ] was expected")
		}
		elements = append(elements, f.at)
		if err := f.skip(); err != nil {
			return nil, err
		}
		if err := f.space(); err != nil {
			return nil, err
		}
		if comma = f.peek() == ','; comma {
			f.at++
		}
	}
}

// token parses a string, a number or a word, into want if that is not nil.
func (f *jsonFile) token(want *string) error {
	end := f.at
	if f.peek() == '"' {
		for end++; end < len(f.text) && f.text[end] != '"'; end++ {
			if f.text[end] == '\\' {
				end++
			}
		}
		end++
	} else {
		for end < len(f.text) && strings.IndexByte(" \t\r\n,:]}[{\"/", f.text[end]) < 0 {
			end++
		}
	}
	if end > len(f.text) {
		return f.errorHere("a text is not closed")
	}
	raw := f.text[f.at:end]
	if !json.Valid(raw) || want != nil && json.Unmarshal(raw, want) != nil {
		return f.errorHere("%.20q was not expected", raw)
	}
	f.at = end
	return nil
}

// insert adds a member at the front of an object, on a line of its own. value is one line.
func (f *jsonFile) insert(o object, key, value string) {
	at := o.start + 1
	if f.comments {
		at = f.commentEnd(at)
	}
	newline, outer := f.newline(), f.indent(o.start)
	inner := outer + f.indentUnit()
	if len(o.members) > 0 {
		if first := o.members[0].start; f.ownLine(first) {
			inner = f.indent(first)
		}
	}
	text := newline + inner + quoted(key) + ":" + value
	if len(o.members) > 0 {
		text += ","
	} else {
		text += newline + outer
	}
	f.text = append(f.text[:at:at], append([]byte(text), f.text[at:]...)...)
}

// remove removes a member, with the line that it stands on.
func (f *jsonFile) remove(o object, i int) {
	m := o.members[i]
	start, end := m.start, m.end
	for start > 0 && (f.text[start-1] == ' ' || f.text[start-1] == '\t') {
		start--
	}
	if start > 0 && f.text[start-1] == '\n' {
		start--
		if start > 0 && f.text[start-1] == '\r' {
			start--
		}
	}
	comma := m.comma
	if comma < 0 && i > 0 {
		comma = o.members[i-1].comma
	}
	if len(o.members) == 1 {
		if tail := f.newline() + f.indent(o.start); bytes.HasPrefix(f.text[end:], []byte(tail)) {
			end += len(tail)
		}
	}
	kept := make([]byte, 0, len(f.text))
	for at, c := range f.text {
		if at != comma && (at < start || at >= end) {
			kept = append(kept, c)
		}
	}
	f.text = kept
}

// commentEnd gives the end of a comment that follows at and ends the line; at if there is none.
func (f *jsonFile) commentEnd(at int) int {
	rest := f.text[at:]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	rest = bytes.TrimRight(rest, " \t\r")
	said := bytes.TrimLeft(rest, " \t")
	if bytes.HasPrefix(said, []byte("//")) || bytes.HasPrefix(said, []byte("/*")) &&
		bytes.Index(said, []byte("*/")) == len(said)-2 {
		return at + len(rest)
	}
	return at
}

// ownLine reports whether only white space stands before a position on its line.
func (f *jsonFile) ownLine(at int) bool {
	before := f.text[:at]
	nl := bytes.LastIndexByte(before, '\n')
	return nl >= 0 && len(bytes.TrimLeft(before[nl+1:], " \t")) == 0
}

// indent gives the white space at the beginning of a position's line.
func (f *jsonFile) indent(at int) string {
	begin := bytes.LastIndexByte(f.text[:at], '\n') + 1
	end := begin
	for end < at && (f.text[end] == ' ' || f.text[end] == '\t') {
		end++
	}
	return string(f.text[begin:end])
}

func (f *jsonFile) indentUnit() string {
	if bytes.Contains(f.text, []byte("\n\t")) {
		return "\t"
	}
	return "  "
}

func (f *jsonFile) newline() string {
	if bytes.Contains(f.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
