package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A spoken is what the user says in a prompt: the session's to keep, and of a short one the first text, which may be
// a command.
type spoken struct {
	session.Prompt
	first string
	trace string // the span that the client sent it in
}

// listen reads a prompt, as the client sent it, as far as that is done at once: a short one whole, for it may be a
// command, of others the texts as they came. whole gives the texts of a short one.
func listen(line []byte, whole func() promptText) spoken {
	if len(line) > shortPrompt {
		if words := wordsOf(line); !words.Empty() || len(line) > maxPrompt {
			return spoken{Prompt: words}
		}
	}
	text := whole()
	return spoken{Prompt: &shortWords{text.said()}, first: text.first()}
}

// note makes it what the user says in a turn.
func (s spoken) note(c *session.Connection, t *session.Turn) {
	if s.first != "" {
		t.Command = c.SlashCommand(t.Session, s.first)
	}
	if s.trace != "" {
		c.Traced(t, s.trace)
	}
	c.PromptRead(t, s.Prompt)
}

// A traceparent as W3C has it: version, trace, span, flags.
var traceparent = pattern.New(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// traceOf gives the span that a client sent a prompt in, "" for none.
func traceOf(line []byte) string {
	if len(line) > maxPrompt || !bytes.Contains(line, []byte("traceparent")) {
		return ""
	}
	if parent, ok := stringAt(line, "params", "_meta", "traceparent"); ok && traceparent().MatchString(parent) {
		return parent
	}
	return ""
}

// shortWords are a prompt that is read.
type shortWords struct{ text string }

func (w *shortWords) Words() (words string, private []string) { return privacy.WithoutPrivate(w.text) }
func (w *shortWords) Omitted() int                            { return 0 }
func (w *shortWords) Size() int                               { return len(w.text) }

// A promptText is what a prompt says: its text blocks, and the types of its other blocks.
type promptText struct{ texts, others []string }

// readPrompt reads a prompt, an array in a valid frame.
func readPrompt(line []byte, prompt frame.Span) (p promptText) {
	for block := range frame.Elements(line, prompt) {
		kind, text := blockOf(line, block)
		if kind == "text" {
			p.texts = append(p.texts, text)
		} else if kind != "" {
			p.others = append(p.others, "["+chars.Cut(kind, maxToolWord)+"]")
		}
	}
	return p
}

// words are the user's own, as they stood before anything was inserted.
func (p promptText) words() string { return strings.Join(p.texts, "\n") }

// said is words or, where there are none, what else stands there.
func (p promptText) said() string { return cmp.Or(p.words(), strings.Join(p.others, " ")) }

// first is the first text, which may be a command.
func (p promptText) first() string {
	if len(p.texts) == 0 {
		return ""
	}
	return p.texts[0]
}

// blockOf gives a content block's type and, if that is text, its text, of a long one its beginning. It reads the block
// once.
func blockOf(line []byte, block frame.Span) (kind, text string) {
	if block.End-block.Start > maxPrompt {
		line = frame.Mend(line[block.Start : block.Start+maxPrompt])
		var ok bool
		if block, ok = frame.Find(line); !ok {
			return "", ""
		}
	}
	var raw []byte
	for key, value := range frame.Members(line, block) {
		switch key {
		case "type":
			kind, _ = frame.String(value.Of(line))
		case "text":
			raw = value.Of(line)
		}
	}
	if kind != "text" {
		return kind, ""
	}
	text, ok := frame.String(raw)
	if !ok {
		return "", ""
	}
	return kind, text
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
