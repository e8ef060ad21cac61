package clients

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// An Outcome is what PutIn did about one entry.
type Outcome struct {
	Name    string // of the entry
	Command []string
	Result  Result
}

// A Result is the kind of an Outcome.
type Result int

// Results of putting an entry in.
const (
	Added        Result = iota
	AlreadyOurs         // there already
	AlreadyOther        // the name is taken by an entry that is not ours, which is left alone
)

// PutIn adds entries for harnesses; existing ones stay as they are.
func (c *File) PutIn(conf *config.Config, harnesses []string) ([]Outcome, error) {
	have, err := c.Entries()
	if err != nil {
		return nil, err
	}
	var done []Outcome
	for _, harness := range slices.Backward(harnesses) { // each is added at the front
		name := Prefix + harness
		if i := slices.IndexFunc(have, func(e Entry) bool { return e.Name == name }); i >= 0 {
			result := AlreadyOther
			if have[i].Ours() { // not rewritten: acpx finds sessions by the command
				result = AlreadyOurs
			}
			done = append(done, Outcome{Name: name, Command: have[i].Command, Result: result})
			continue
		}
		command := c.inFull(Command(conf, harness))
		if err := c.Add(name, command); err != nil {
			return nil, err
		}
		done = append(done, Outcome{Name: name, Command: command, Result: Added})
	}
	return done, nil
}

// TakeOut removes our entries for harnesses, all of them if none is named, and gives their names.
func (c *File) TakeOut(harnesses []string) ([]string, error) {
	have, err := c.Entries()
	if err != nil {
		return nil, err
	}
	var taken []string
	for _, e := range have {
		harness, prefixed := strings.CutPrefix(e.Name, Prefix)
		if !prefixed || !e.Ours() || len(harnesses) > 0 && !slices.Contains(harnesses, harness) {
			continue
		}
		if err := c.Remove(e.Name); err != nil {
			return nil, err
		}
		taken = append(taken, e.Name)
	}
	return taken, nil
}
