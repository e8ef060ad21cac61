package privacy

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A File keeps digests of what users marked private, so that no other process and no later session of a project stores
// it where an agent repeats it: its salt in the first line, and then one digest a line, of all projects. It is safe for
// concurrent use, but for Digests, and by several processes: lines are only appended, each write whole. A nil File
// knows nothing and keeps nothing.
type File struct {
	path string

	mu    sync.Mutex
	salt  []byte
	lines []string
	read  int64               // bytes of the file that lines has
	known map[string]*Digests // by project
}

// FileAt returns the file at a path, which need not exist.
func FileAt(path string) *File { return &File{path: path, known: map[string]*Digests{}} }

// saltSize is the salt's length in bytes.
const saltSize = 16

// Conceal takes out of text what was marked private in the project, in whatever process and session. A file that cannot
// be read knows nothing.
func (f *File) Conceal(project, text string) string {
	if f == nil {
		return text
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.load() != nil || len(f.lines) == 0 {
		return text
	}
	text, _ = f.of(project).conceal(text, true)
	return text
}

// Digests returns what is known of a project by now, nil for nothing. Later calls add to it: who uses it must be the
// only one who has the File.
func (f *File) Digests(project string) *Digests {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.load() != nil {
		return nil
	}
	return f.of(project)
}

// Keep adds passages of a project.
func (f *File) Keep(project string, passages []string) error {
	if f == nil || len(passages) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.load()
	if errors.Is(err, fs.ErrNotExist) {
		err = f.create()
	}
	if err == nil {
		d := f.of(project)
		err = f.append(slices.DeleteFunc(d.of(passages), func(digest string) bool { return d.known[digest] }))
	}
	if err != nil {
		return fmt.Errorf("keeping digests of private passages: %w", err)
	}
	return nil
}

// append writes lines, if any, in one piece.
func (f *File) append(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, file.Close())
}

// of returns the digests of a project. Their salt has the project in it: those of others never match.
func (f *File) of(project string) *Digests {
	d := f.known[project]
	if d == nil {
		d = &Digests{salt: append(slices.Clone(f.salt), project...), known: map[string]bool{}}
		d.learn(f.lines...)
		f.known[project] = d
	}
	return d
}

// load reads what was appended since the last time. A file that was replaced is read anew.
func (f *File) load() error {
	info, err := os.Stat(f.path)
	if err != nil || info.Size() < f.read {
		f.salt, f.lines, f.read = nil, nil, 0
		clear(f.known)
	}
	if err != nil || info.Size() == f.read {
		return err
	}
	raw, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1 // the rest is being written
	if int64(whole) <= f.read {
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(raw[f.read:whole]))
	if f.read == 0 && lines.Scan() {
		if f.salt, err = hex.DecodeString(lines.Text()); err != nil || len(f.salt) != saltSize {
			return fmt.Errorf("%s does not begin with a salt", f.path)
		}
	}
	for lines.Scan() {
		f.lines = append(f.lines, lines.Text())
		for _, d := range f.known {
			d.learn(lines.Text())
		}
	}
	f.read = int64(whole)
	return lines.Err()
}

// create makes the file with a salt, unless another process has.
func (f *File) create() error {
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	made, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(made.Name())
	_, err = made.WriteString(hex.EncodeToString(salt) + "\n")
	if err = errors.Join(err, made.Close()); err != nil {
		return err
	}
	if err := os.Link(made.Name(), f.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.load()
}
