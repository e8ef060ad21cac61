// Package clients edits our entries in the configuration files of ACP clients, and leaves every other
// byte of these files as it is.
package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tailscale/hujson"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A File is a client's configuration file.
type File struct {
	client
	Path   string
	Exists bool // the file exists

	file jsonFile
	bom  []byte // that the file begins with
	read []byte // as it was read
}

// emptyFile is the text of a new file. Its second line end tells it from an empty file of the person's, which is not
// removed with our last entry.
const emptyFile = "{}\n\n"

// madeByUs stands between the name and the brace of a section that we made, and tells it from an empty one of the
// person's.
const madeByUs = "  "

// Open reads the file of a client, or begins a new one.
func Open(client string) (*File, error) {
	home, err := memory.Home()
	if err != nil {
		return nil, fmt.Errorf("finding the home folder: %w", err)
	}
	known, ok := Named(client)
	if !ok || known.Path == nil {
		return nil, fmt.Errorf("no configuration file is known for the client %q", client)
	}
	c := &File{client: known, Path: known.Path(here(home))}
	c.file.comments = known.Comments
	text, err := files.Read(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.file.text = []byte(emptyFile)
	case err != nil:
		return nil, fmt.Errorf("%s's configuration: %w", known.Title, err)
	default:
		c.Exists = true
		c.read = text
		c.take(text)
	}
	return c, nil
}

// take takes a file's text; hujson knows no byte order mark.
func (c *File) take(text []byte) {
	c.file.text = bytes.Clone(text)
	if rest, ok := bytes.CutPrefix(c.file.text, byteOrderMark); ok {
		c.bom, c.file.text = byteOrderMark, rest
	}
}

var byteOrderMark = []byte("\ufeff")

// text is that of the whole file.
func (c *File) text() []byte { return slices.Concat(c.bom, c.file.text) }

// agents finds the section with the agents; ok is false if there is none.
func (c *File) agents() (root, section object, ok bool, err error) {
	broken := func(err error) error {
		return fmt.Errorf("%s not changed: %w", c.Path, err)
	}
	if root, err = c.file.root(); err != nil {
		return root, section, false, broken(err)
	}
	i, ok := root.last(c.Section)
	if !ok {
		return root, section, false, nil
	}
	if section, err = c.file.object(root.Members[i].Value); err != nil {
		return root, section, false, broken(fmt.Errorf("%q: %w", c.Section, err))
	}
	return root, section, true, nil
}

// add adds an agent's entry.
func (c *File) add(name string, command []string) error {
	root, section, ok, err := c.agents()
	if err != nil {
		return err
	}
	if !ok {
		c.file.insert(root, c.Section, madeByUs+"{}")
		if _, section, _, err = c.agents(); err != nil {
			return err
		}
	}
	c.file.insert(section, name, " {"+c.Fields+c.entryFields(command)+"}")
	return nil
}

// remove removes an agent's entry, and a section that we made for it.
func (c *File) remove(name string) error {
	_, section, _, err := c.agents()
	if err != nil {
		return err
	}
	i, ok := section.last(name)
	if !ok {
		return nil
	}
	c.file.remove(section, i)
	root, section, ok, err := c.agents()
	if err != nil || !ok || len(section.Members) > 0 {
		return err
	}
	i, _ = root.last(c.Section)
	if end := root.Members[i].Value.EndOffset; bytes.HasSuffix(c.file.text[:end], []byte(":"+madeByUs+"{}")) {
		c.file.remove(root, i)
	}
	return nil
}

// Changed reports whether there is anything to save.
func (c *File) Changed() bool {
	if !c.Exists {
		return string(c.file.text) != emptyFile
	}
	return !bytes.Equal(c.text(), c.read)
}

// Save writes the file atomically, or removes it if it held nothing but our entries.
func (c *File) Save() error {
	if !c.file.comments && !json.Valid(c.file.text) { // a last check: the file is the person's
		return fmt.Errorf("%s not changed: the edit went wrong", c.Path)
	}
	path, err := filepath.EvalSymlinks(c.Path) // what a link names is replaced, not the link
	if errors.Is(err, fs.ErrNotExist) {
		path, err = c.Path, os.MkdirAll(filepath.Dir(c.Path), 0o700)
	}
	if err == nil {
		if string(c.file.text) == emptyFile {
			err = os.Remove(path)
		} else {
			err = c.replace(path)
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s's configuration: %w", c.Title, err)
	}
	return nil
}

// backup is what follows the name of a file's copy from before our first change.
const backup = ".before-signet"

// replace writes the file, and keeps a copy of what it was before our first change until it is that again.
func (c *File) replace(path string) error {
	before, err := files.Read(path + backup)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.original():
		err = os.WriteFile(path+backup, c.read, 0o600)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil && bytes.Equal(before, c.text()):
		defer os.Remove(path + backup)
	}
	return errors.Join(err, files.ReplaceText(path, files.Mode(path), c.text()))
}

// original reports whether the file had nothing of ours when it was read.
func (c *File) original() bool {
	was := &File{client: c.client}
	was.file.comments = c.file.comments
	was.take(c.read)
	entries, err := was.Entries()
	return c.Exists && err == nil && !slices.ContainsFunc(entries, Entry.Ours)
}

// Diff is the change as a unified diff, "" where there is none.
func (c *File) Diff() string {
	after := c.text()
	if string(after) == emptyFile {
		after = nil
	}
	text := diff.Diff(c.Path, c.read, c.Path, after)
	_, text, _ = bytes.Cut(text, []byte("\n")) // without the line that names a command
	return string(text)
}

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
