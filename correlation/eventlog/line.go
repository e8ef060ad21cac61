package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// writeLine appends an event as a line of the file, or nothing.
func writeLine(to *bytes.Buffer, q queued) error {
	kind, began := correlation.KindOf(q.event), to.Len()
	fmt.Fprintf(to, `{"at":%d,"n":%d,"kind":%q`, q.at.UnixMilli(), q.n, kind)
	fields := to.Len()
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false) // code is full of what HTML would have escaped
	if err := encoder.Encode(q.event); err != nil {
		to.Truncate(began)
		return fmt.Errorf("encoding %s: %w", kind, err)
	}
	if text := to.Bytes()[fields:]; text[1] == '}' { // it has no fields
		to.Truncate(fields)
		to.WriteString("}\n")
	} else {
		text[0] = ','
	}
	return nil
}

// A line is an event on its way into the database.
type line struct {
	n       int64 // its number
	at      time.Time
	event   correlation.Event
	text    []byte // as the file has it
	strange error  // it is no event of ours
}

// parse decodes a line, without its line end. It returns an error if the line is no event. What every event has stands
// in front, so that a long text is gone through once.
func parse(text []byte) (line, error) {
	var head struct {
		At   int64  `json:"at"`
		N    int64  `json:"n"`
		Kind string `json:"kind"`
	}
	front, rest, _ := bytes.Cut(text, []byte(`"kind":"`))
	kind, _, _ := bytes.Cut(rest, []byte{'"'})
	if json.Unmarshal(fmt.Appendf(nil, `%s"kind":"%s"}`, front, kind), &head) != nil {
		if err := json.Unmarshal(text, &head); err != nil { // somebody else wrote it
			return line{}, err
		}
	}
	e, err := correlation.ParseEvent(head.Kind, text)
	return line{n: head.N, at: time.UnixMilli(head.At), event: e}, err
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
