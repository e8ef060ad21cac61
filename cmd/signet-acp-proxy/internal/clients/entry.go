package clients

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// An Entry is an agent in a client's file.
type Entry struct {
	Name    string
	Line    int
	Command []string // program and arguments
	Argv    bool     // in the form that acpx 0.7.0 cannot read
}

// Entries lists the agents of the file; of several with one name the last.
func (c *File) Entries() ([]Entry, error) {
	_, section, _, err := c.agents()
	if err != nil {
		return nil, err
	}
	var all []Entry
	for i, m := range section.members {
		if last, _ := section.last(m.key); last != i {
			continue
		}
		e := Entry{Name: m.key, Line: 1 + bytes.Count(c.file.text[:m.start], []byte("\n"))}
		if o, err := c.file.object(m.value); err == nil {
			c.command(o, &e)
		}
		all = append(all, e)
	}
	return all, nil
}

// command reads the command line of an entry, in any of the forms that clients accept.
func (c *File) command(o object, e *Entry) {
	text := func(at int) string {
		var s string
		c.file.at = at
		if c.file.peek() != '"' || c.file.token(&s) != nil {
			return ""
		}
		return s
	}
	texts := func(key string) (list []string, ok bool) {
		i, ok := o.last(key)
		if !ok || c.file.text[o.members[i].value] != '[' {
			return nil, false
		}
		places, err := c.file.array(o.members[i].value)
		for _, at := range places {
			list = append(list, text(at))
		}
		return list, err == nil
	}
	if argv, ok := texts("argv"); ok {
		e.Command, e.Argv = argv, true
	}
	if i, ok := o.last("command"); ok {
		program := text(o.members[i].value)
		args, separate := texts("args")
		if separate || c.Client != "acpx" {
			e.Command = append([]string{program}, args...)
		} else if words, err := config.SplitCommand(program); err == nil {
			e.Command = words
		}
	}
}

// Ours reports whether an entry runs this program.
func (e Entry) Ours() bool {
	if len(e.Command) == 0 {
		return false
	}
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(e.Command[0])), ".exe")
	return name == "signet-acp-proxy"
}
