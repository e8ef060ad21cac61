package clients

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// An outcome is what PutIn did about one entry.
type outcome struct {
	Name    string // of the entry
	Command []string
	Result  result
}

// A result is the kind of an Outcome.
type result int

// Results of putting an entry in.
const (
	Added        result = iota
	AlreadyOurs         // there already
	AlreadyOther        // the name is taken by an entry that is not ours, which is left alone
)

// PutIn adds entries for harnesses; existing ones stay as they are.
func (c *File) PutIn(conf *config.Config, harnesses []string) ([]outcome, error) {
	have, err := c.Entries()
	if err != nil {
		return nil, err
	}
	var done []outcome
	for _, harness := range slices.Backward(harnesses) { // each is added at the front
		one := c.place(have, harness)
		if one.Result == Added {
			one.Command = c.inFull(Command(conf, harness))
			if err := c.add(one.Name, one.Command); err != nil {
				return nil, err
			}
		}
		done = append(done, one)
	}
	return done, nil
}

// place finds the name of a harness's entry: of ours, which is not rewritten because acpx finds sessions by the
// command, or the first that is free.
func (c *File) place(have []Entry, harness string) (one outcome) {
	one.Result = AlreadyOther
	for _, name := range c.names(harness) {
		switch i := slices.IndexFunc(have, func(e Entry) bool { return e.Name == name }); {
		case i < 0 && one.Result == AlreadyOther:
			one = outcome{Name: name, Result: Added}
		case i >= 0 && have[i].Ours():
			return outcome{Name: name, Command: have[i].Command, Result: AlreadyOurs}
		case i >= 0 && one.Name == "":
			one.Name, one.Command = name, have[i].Command
		}
	}
	return one
}

// TakeOut removes our entries for harnesses, all of them if none is named, and returns their names.
func (c *File) TakeOut(harnesses []string) ([]string, error) {
	have, err := c.Entries()
	if err != nil {
		return nil, err
	}
	var taken []string
	for _, e := range have {
		harness := strings.TrimPrefix(e.Name, Prefix)
		if !slices.Contains(c.names(harness), e.Name) || !e.Ours() ||
			len(harnesses) > 0 && !slices.Contains(harnesses, harness) {
			continue
		}
		if err := c.remove(e.Name); err != nil {
			return nil, err
		}
		taken = append(taken, e.Name)
	}
	return taken, nil
}
