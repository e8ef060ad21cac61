package memory

import (
	"path/filepath"
	"slices"
	"strings"
)

// A Round is what a person said in an earlier session, what was answered, and what came of it.
type Round struct {
	User, Assistant string
	Result          string   // the beginning of what the assistant said behind its last tool call
	Decided         []string // sentences of the person's that settle something
	Agreed          []string // sentences of the assistant's that settle something
	Changed         []string // paths of files that were changed
	Open            string   // what the result leaves to be done
}

// A Digest is what matters of a session, made without a model.
type Digest struct {
	Asked   string   // the first request
	Decided []string // by the person, in their order
	Agreed  []string // by the assistant, where the person did not say the same
	Changed []string // files, the last first
	Result  string   // the beginning of the last result
	Open    string   // what is left to do
}

// The limits of a digest's text, in tokens unless they say otherwise.
const (
	askedBudget    = 35
	maxDecisions   = 2 // the last
	decisionBudget = 25
	maxFiles       = 4 // the last
	filesBudget    = 25
	resultBudget   = 50
	openBudget     = 25
	digestBudget   = 110
	shortBudget    = 68 // of a digest that is one of several
)

// DigestOf returns the digest of a session's rounds.
func DigestOf(rounds []Round) (d Digest) {
	for _, r := range rounds {
		if d.Asked == "" {
			d.Asked = oneLine(r.User)
		}
		for _, text := range r.Decided {
			if text = oneLine(text); text != d.Asked && !slices.Contains(d.Decided, text) {
				d.Decided = append(d.Decided, text)
			}
		}
		if !blank(r.Result) {
			d.Result, d.Open = oneLine(r.Result), oneLine(r.Open)
		}
	}
	for _, r := range rounds {
		for _, text := range r.Agreed {
			if text = oneLine(text); !slices.Contains(d.Decided, text) && !slices.Contains(d.Agreed, text) {
				d.Agreed = append(d.Agreed, text)
			}
		}
	}
	for _, r := range slices.Backward(rounds) {
		for _, path := range slices.Backward(r.Changed) {
			if name := oneLine(filepath.ToSlash(path)); name != "" && !slices.Contains(d.Changed, name) {
				d.Changed = append(d.Changed, name)
			}
		}
	}
	return d
}

// Text is a digest on one line, some 400 bytes. It is empty where nothing was said.
func (d Digest) Text() string {
	var parts []string
	add := func(label, text string, budget int) {
		if text != "" {
			parts = append(parts, label+clip(text, budget))
		}
	}
	add("began with: ", d.Asked, askedBudget)
	for _, text := range d.Decided[max(len(d.Decided)-maxDecisions, 0):] {
		add("decided: ", text, decisionBudget)
	}
	add("last result: ", d.Result, resultBudget)
	add("open: ", d.Open, openBudget)
	add("files: ", strings.Join(d.Changed[:min(len(d.Changed), maxFiles)], ", "), filesBudget)
	return clip(strings.Join(parts, " / "), digestBudget)
}

// Short is a digest that shares its room with others.
func (d Digest) Short() string { return clip(d.Text(), shortBudget) }
