package clients

import (
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

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
	for i, m := range section.Members {
		name := text(m.Name)
		if last, _ := section.last(name); last != i {
			continue
		}
		e := Entry{Name: name, Line: c.file.line(m.Name.StartOffset)}
		if o, err := c.file.object(m.Value); err == nil {
			c.command(o, &e)
		}
		all = append(all, e)
	}
	return all, nil
}

// command reads the command line of an entry, in any of the forms that clients accept.
func (c *File) command(o object, e *Entry) {
	texts := func(key string) (list []string, ok bool) {
		i, ok := o.last(key)
		if !ok {
			return nil, false
		}
		values, ok := o.Members[i].Value.Value.(*hujson.Array)
		if ok {
			for _, v := range values.Elements {
				list = append(list, text(v))
			}
		}
		return list, ok
	}
	if argv, ok := texts("argv"); ok {
		e.Command, e.Argv = argv, true
	}
	if i, ok := o.last("command"); ok {
		program := text(o.Members[i].Value)
		args, separate := texts("args")
		if separate || c.Name != "acpx" {
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
