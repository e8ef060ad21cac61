package proxy

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// readPrompt reads what a prompt's frame says. Of a long one the texts are collected, to be decoded only as far as they
// are kept.
func readPrompt(line []byte) (said session.Said) {
	var texts, others []string
	prompt, _ := frame.Find(line, "params", "prompt")
	for block := range frame.Elements(line, prompt) {
		said.Blocks = prompt
		if kind, text := blockOf(line, block); kind == "text" {
			texts = append(texts, text)
		} else if kind != "" {
			others = append(others, "["+chars.Cut(kind, maxToolWord)+"]")
		}
	}
	if len(texts) > 0 {
		said.First = texts[0]
	}
	said.Words = strings.Join(texts, chars.BlockMark)
	said.Off = bytes.Contains(line, []byte("signet.ai")) && switchesOff(line)
	if len(line) > maxPrompt {
		said.Prompt = collect(line)
		return said
	}
	text := cmp.Or(said.Words, strings.Join(others, " "))
	said.Prompt.Size = len(text)
	said.Prompt.Words = func() (string, []string) { return privacy.WithoutPrivate(text) }
	return said
}

// blockOf returns a content block's type and, if that is text, its text; of a block longer than maxPrompt only the
// beginning.
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
		switch string(key) {
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
