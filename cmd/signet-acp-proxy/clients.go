package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A clientConfig is a client's file with agents in it.
type clientConfig struct {
	client  string
	path    string
	section string // the member that holds the agents
	fields  string // what an entry begins with
	there   bool   // the file exists
	file    jsonFile
	read    []byte // as it was read
}

// An entry is an agent in a client's file.
type entry struct {
	name    string
	line    int
	command []string // program and arguments
	argv    bool     // in the form that acpx 0.7.0 cannot read
}

// Our entries are named after their harness.
const entryPrefix = "signet-"

// emptyFile is what a file that was not there is made from. Its second line
// end tells it from an empty one of the person's, which remains when ours goes.
const emptyFile = "{}\n\n"

// madeByUs stands between the name of a section that we made and its brace, and tells it from an empty one of the person's.
const madeByUs = "  "

// openClient reads the file of a client, or begins one.
func openClient(client string) (*clientConfig, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("finding the home folder: %w", err)
	}
	c := &clientConfig{client: client}
	switch client {
	case "acpx":
		c.path, c.section = filepath.Join(home, ".acpx", "config.json"), "agents"
	case "zed":
		c.path, c.section, c.fields = zedSettings(home), "agent_servers", `"type": "custom", `
		c.file.comments = true
	}
	c.file.text, err = os.ReadFile(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.file.text = []byte(emptyFile)
	case err != nil:
		return nil, fmt.Errorf("%s's configuration: %w", client, err)
	default:
		c.there, c.read = true, bytes.Clone(c.file.text)
	}
	return c, nil
}

func zedSettings(home string) string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	switch {
	case runtime.GOOS == "windows":
		return filepath.Join(os.Getenv("APPDATA"), "Zed", "settings.json")
	case dir == "" || runtime.GOOS == "darwin":
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "zed", "settings.json")
}

// agents finds the file's section of agents; ok is false when it has none.
func (c *clientConfig) agents() (root, section object, ok bool, err error) {
	broken := func(err error) error {
		return fmt.Errorf("%s is left alone: %w", c.path, err)
	}
	if root, err = c.file.root(); err != nil {
		return root, section, false, broken(err)
	}
	i, ok := root.last(c.section)
	if !ok {
		return root, section, false, nil
	}
	if section, err = c.file.object(root.members[i].value); err != nil {
		return root, section, false, broken(fmt.Errorf("%q: %w", c.section, err))
	}
	return root, section, true, nil
}

// entries lists the agents of the file, those of one name once.
func (c *clientConfig) entries() ([]entry, error) {
	_, section, _, err := c.agents()
	if err != nil {
		return nil, err
	}
	var all []entry
	for i, m := range section.members {
		if last, _ := section.last(m.key); last != i {
			continue
		}
		e := entry{name: m.key, line: 1 + bytes.Count(c.file.text[:m.start], []byte("\n"))}
		if o, err := c.file.object(m.value); err == nil {
			c.command(o, &e)
		}
		all = append(all, e)
	}
	return all, nil
}

// command reads the command line of an entry, in any of its forms.
func (c *clientConfig) command(o object, e *entry) {
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
		e.command, e.argv = argv, true
	}
	if i, ok := o.last("command"); ok {
		program := text(o.members[i].value)
		args, separate := texts("args")
		if separate || c.client != "acpx" {
			e.command = append([]string{program}, args...)
		} else if words, err := splitCommand(program); err == nil {
			e.command = words
		}
	}
}

// ours reports whether an entry runs this program.
func (e entry) ours() bool {
	if len(e.command) == 0 {
		return false
	}
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(e.command[0])), ".exe")
	return name == "signet-acp-proxy"
}

// add puts an agent into the file.
func (c *clientConfig) add(name string, command []string) error {
	root, section, ok, err := c.agents()
	if err != nil {
		return err
	}
	if !ok {
		c.file.insert(root, c.section, madeByUs+"{}")
		if _, section, _, err = c.agents(); err != nil {
			return err
		}
	}
	c.file.insert(section, name, " {"+c.fields+entryFields(command)+"}")
	return nil
}

// remove takes an agent out of the file, and what we made for it.
func (c *clientConfig) remove(name string) error {
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
	if err != nil || !ok || len(section.members) > 0 {
		return err
	}
	i, _ = root.last(c.section)
	if m := root.members[i]; bytes.HasSuffix(c.file.text[m.start:m.end], []byte(":"+madeByUs+"{}")) {
		c.file.remove(root, i)
	}
	return nil
}

// entryFields is a command line as entries have it: a text, and a list of arguments.
func entryFields(command []string) string {
	args := make([]string, 0, len(command)-1)
	for _, arg := range command[1:] {
		args = append(args, quoted(arg))
	}
	return `"command": ` + quoted(command[0]) + `, "args": [` + strings.Join(args, ", ") + "]"
}

func (c *clientConfig) changed() bool {
	if !c.there {
		return string(c.file.text) != emptyFile
	}
	return !bytes.Equal(c.file.text, c.read)
}

// save writes the file in one step, or removes one that held nothing but ours.
func (c *clientConfig) save() error {
	if !c.file.comments && !json.Valid(c.file.text) { // cannot be; nothing of a person's is risked on it
		return fmt.Errorf("%s is left alone: the edit went wrong", c.path)
	}
	path, err := filepath.EvalSymlinks(c.path) // what a link names is replaced, not the link
	if errors.Is(err, fs.ErrNotExist) {
		path, err = c.path, os.MkdirAll(filepath.Dir(c.path), 0o700)
	}
	if err == nil {
		if string(c.file.text) == emptyFile {
			err = os.Remove(path)
		} else {
			err = replaceFile(path, c.file.text)
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s's configuration: %w", c.client, err)
	}
	return nil
}

// replaceFile puts a file in the place of another at once, with the same permissions.
func replaceFile(path string, text []byte) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".signet-acp-proxy-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
