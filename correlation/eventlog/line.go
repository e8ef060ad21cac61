package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// appendLine appends an event as a line of the file.
func appendLine(buf []byte, at time.Time, e correlation.Event) ([]byte, error) {
	kind := correlation.KindOf(e)
	buf = append(strconv.AppendInt(append(buf, lineStart...), at.UnixMilli(), 10), lineKind...)
	text := lineBuffer(append(append(buf, kind...), '"'))
	fields := len(text)
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // code is full of what HTML would have escaped
	if err := encoder.Encode(e); err != nil {
		return nil, fmt.Errorf("encoding %s: %w", kind, err)
	}
	if text[fields] = ','; text[fields+1] == '}' { // it has no fields
		text = append(text[:fields], "}\n"...)
	}
	return text, nil
}

// How every line begins, and what is between its time and its kind.
const (
	lineStart = `{"at":`
	lineKind  = `,"kind":"`
)

// A lineBuffer is a slice that an encoder can write to.
type lineBuffer []byte

func (s *lineBuffer) Write(b []byte) (int, error) {
	*s = append(*s, b...)
	return len(b), nil
}

// A line of a file, decoded.
type line struct {
	at      time.Time
	event   correlation.Event
	text    []byte
	end     int64 // offset in the file after the line
	strange error // it is no event of ours
}

// parse decodes a line, without its line end. It returns an error if the line is no event.
func parse(text []byte) (line, error) {
	head, ours := headOf(text)
	if !ours {
		if err := json.Unmarshal(text, &head); err != nil {
			return line{}, err
		}
	}
	e, err := correlation.ParseEvent(head.Kind, text)
	return line{at: time.UnixMilli(head.At), event: e}, err
}

// An eventHead is what all events have.
type eventHead struct {
	At   int64  `json:"at"`
	Kind string `json:"kind"`
}

// headOf reads the head of a line as appendLine writes it, without parsing the rest.
func headOf(text []byte) (h eventHead, ours bool) {
	rest, ours := bytes.CutPrefix(text, []byte(lineStart))
	at, rest, found := bytes.Cut(rest, []byte(lineKind))
	kind, _, closed := bytes.Cut(rest, []byte{'"'})
	h.Kind = string(kind)
	var err error
	h.At, err = strconv.ParseInt(string(at), 10, 64)
	return h, ours && found && closed && err == nil && !bytes.ContainsRune(kind, '\\')
}

// numbersOf returns the numbers of an event's session and turn, 0 where it has none.
func numbersOf(e correlation.Event) (session, turn int) {
	v := reflect.ValueOf(e)
	for name, n := range map[string]*int{"Session": &session, "Turn": &turn} {
		if f := v.FieldByName(name); f.IsValid() {
			*n = int(f.Int())
		}
	}
	return session, turn
}
