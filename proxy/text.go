package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A spoken is what the user says in a prompt: the session's to keep, and of a short one the first text, which may be
// a command.
type spoken struct {
	session.Prompt
	first string
}

// listen reads a prompt, as the client sent it, as far as that is done at once.
func listen(line []byte) spoken {
	switch {
	case len(line) > maxPrompt:
		e := frame.Excerpts{Limit: maxPrompt}
		e.Write(line)
		texts, _ := e.End()
		return spoken{Prompt: &longPrompt{texts}}
	case len(line) > shortPrompt:
		return spoken{Prompt: &plainPrompt{line: bytes.Clone(line)}}
	}
	said := spoken{Prompt: &plainPrompt{}}
	if prompt, ok := frame.Find(line, "params", "prompt"); ok {
		var words string
		words, said.first = promptWords(line, prompt)
		said.Prompt = &plainPrompt{words: cmp.Or(words, attachments(line, prompt))}
	}
	return said
}

// note makes it what the user says in a turn.
func (s spoken) note(c *session.Connection, t *session.Turn) {
	if s.first != "" {
		t.Command = c.SlashCommand(t.Session, s.first)
	}
	c.Hear(t, s.Prompt)
}

// A plainPrompt is one that is kept whole: its words, or the frame that they are read off later.
type plainPrompt struct {
	line  []byte
	words string
}

// Left is 0.
func (p *plainPrompt) Left() int { return 0 }

// Words gives what the user says.
func (p *plainPrompt) Words() string {
	if p.line == nil {
		return p.words
	}
	prompt, ok := frame.Find(p.line, "params", "prompt")
	if !ok {
		return ""
	}
	words, _ := promptWords(p.line, prompt)
	return cmp.Or(words, attachments(p.line, prompt))
}

// A longPrompt is what was kept of the texts of a prompt.
type longPrompt struct{ texts []frame.Excerpt }

// Left is how many bytes were left out.
func (p *longPrompt) Left() (left int) {
	for _, x := range p.texts {
		left += x.Left
	}
	return left
}

// Words gives what the user says. A prompt that is long and has no text holds images or files.
func (p *longPrompt) Words() string {
	if len(p.texts) == 0 {
		return "[attachment]"
	}
	var joined []byte
	for i, x := range p.texts {
		if i > 0 {
			joined = append(joined, '\n')
		}
		joined = x.Append(joined)
	}
	return string(joined)
}

// attachments says what stands in a prompt that has no text: its blocks' kinds.
func attachments(line []byte, prompt frame.Span) string {
	var kinds []string
	for block := range frame.Elements(line, prompt) {
		if kind, ok := stringAt(block.Of(line), "type"); ok && kind != "text" {
			kinds = append(kinds, "["+chars.Cut(kind, maxToolWord)+"]")
		}
	}
	return strings.Join(kinds, " ")
}

// promptWords joins the text blocks of a prompt, an array in a valid frame:
// the user's own words, as they stood before anything was inserted. first is the first text block's.
func promptWords(line []byte, prompt frame.Span) (words, first string) {
	var texts []string
	for block := range frame.Elements(line, prompt) {
		if text, ok := textOf(block.Of(line)); ok {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return "", ""
	}
	return strings.Join(texts, "\n"), texts[0]
}

// textOf gives the text of a content block of type text, of a long one its beginning.
func textOf(block []byte) (string, bool) {
	if len(block) > maxPrompt {
		block = frame.Mend(block[:maxPrompt])
	}
	if kind, ok := stringAt(block, "type"); !ok || kind != "text" {
		return "", false
	}
	return stringAt(block, "text")
}

// stringAt gives the string at a path.
func stringAt(b []byte, path ...string) (string, bool) {
	at, ok := frame.Find(b, path...)
	if !ok {
		return "", false
	}
	return frame.String(at.Of(b))
}

// quote makes a JSON string of text.
func quote(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return []byte(`""`)
	}
	return b
}

// add adds a member that is not there.
func add(line, value []byte, path ...string) []byte {
	if edited, ok := frame.Add(line, value, path...); ok {
		return edited
	}
	return line
}

// idKey makes equal ids equal strings.
func idKey(token []byte) string { return session.IDKey(token, frame.String) }

// usable reports whether an id can be answered: null and nothing cannot.
func usable(id []byte) bool { return len(id) > 0 && !bytes.Equal(id, []byte("null")) }

// errorCode gives a response's error code, 0 if it has none.
func errorCode(line []byte) int {
	at, ok := frame.Find(line, "error", "code")
	if !ok {
		return 0
	}
	code, err := strconv.Atoi(string(at.Of(line)))
	if err != nil {
		return 0
	}
	return code
}

// switchesOff reports whether a request asks us to leave its session alone.
func switchesOff(line []byte) bool {
	at, ok := frame.Find(line, "params", "_meta", "signet.ai", "inject")
	return ok && bytes.Equal(at.Of(line), []byte("false"))
}
