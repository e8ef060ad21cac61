package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A jsonFile is a person's JSON file, edited by inserting and cutting text, so that every other byte stays. remove
// undoes insert, to the byte.
type jsonFile struct {
	text     []byte
	comments bool // comments and trailing commas are allowed
}

// An object is an object of the file, with its members, and where it begins.
type object struct {
	hujson.Object
	start int
}

// root parses the file, which must be one object.
func (f *jsonFile) root() (object, error) {
	if !f.comments && !json.Valid(f.text) {
		var v any
		err := json.Unmarshal(f.text, &v)
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			err = fmt.Errorf("line %d: %w", f.line(int(syntax.Offset)), err)
		}
		return object{}, err
	}
	v, err := hujson.Parse(append(slices.Clip(f.text), '\n')) // which ends a comment on the last line
	if err != nil {
		return object{}, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return f.object(v)
}

// object returns a value as an object.
func (f *jsonFile) object(v hujson.Value) (object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return object{}, fmt.Errorf("line %d: must be an object", f.line(v.StartOffset))
	}
	return object{*o, v.StartOffset}, nil
}

// line returns the line of a position.
func (f *jsonFile) line(at int) int {
	return 1 + bytes.Count(f.text[:min(at, len(f.text))], []byte("\n"))
}

// text returns the text of a JSON string, "" for any other value.
func text(v hujson.Value) string {
	if s, ok := v.Value.(hujson.Literal); ok && s.Kind() == '"' {
		return s.String()
	}
	return ""
}

// last returns the last member with a name, which is the one that counts.
func (o object) last(key string) (i int, ok bool) {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if text(o.Members[i].Name) == key {
			return i, true
		}
	}
	return 0, false
}

// comma returns the position of the comma behind a member, -1 if there is none.
func (o object) comma(i int) int {
	v := o.Members[i].Value
	if i == len(o.Members)-1 && v.AfterExtra == nil {
		return -1
	}
	return v.EndOffset + len(v.AfterExtra)
}

// insert adds a member at the front of an object, on a line of its own. value is one line.
func (f *jsonFile) insert(o object, key, value string) {
	at := o.start + 1
	if f.comments {
		at = f.commentEnd(at)
	}
	newline, outer := f.newline(), f.indent(o.start)
	inner := outer + f.indentUnit()
	if len(o.Members) > 0 {
		if first := o.Members[0].Name.StartOffset; f.ownLine(first) {
			inner = f.indent(first)
		}
	}
	text := newline + inner + quoted(key) + ":" + value
	if len(o.Members) > 0 {
		text += ","
	} else {
		text += newline + outer
	}
	f.text = slices.Insert(f.text, at, []byte(text)...)
}

// remove removes a member, with the line that it stands on.
func (f *jsonFile) remove(o object, i int) {
	before := bytes.TrimRight(f.text[:o.Members[i].Name.StartOffset], " \t")
	if line, ends := bytes.CutSuffix(before, []byte("\n")); ends {
		before = bytes.TrimSuffix(line, []byte("\r"))
	}
	start, end := len(before), o.Members[i].Value.EndOffset
	comma := o.comma(i)
	if comma < 0 && i > 0 {
		comma = o.comma(i - 1)
	}
	if len(o.Members) == 1 {
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

// commentEnd returns the end of a comment that follows at and ends the line; at if there is none.
func (f *jsonFile) commentEnd(at int) int {
	rest := f.text[at:]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	rest = bytes.TrimRight(rest, " \t\r")
	said := bytes.TrimLeft(rest, " \t")
	within, block := bytes.CutPrefix(said, []byte("/*"))
	ends := len(within) > 1 && bytes.Index(within, []byte("*/")) == len(within)-2
	if bytes.HasPrefix(said, []byte("//")) || block && ends {
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

// indent returns the white space at the beginning of a position's line.
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
