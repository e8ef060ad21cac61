// Command archive packs a folder into a .tar.gz or .zip:
//
//	archive FOLDER FILE
//
// The folder's name stands before each name in it. The same files give the same bytes: times, owners and order are
// fixed.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// epoch is the time of every file: the first that zip can tell.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: archive FOLDER FILE")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

// An adder takes files into an archive.
type adder interface {
	add(name string, size int64, mode os.FileMode, content io.Reader) error
	Close() error
}

func pack(folder, file string) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var to adder
	if strings.HasSuffix(file, ".zip") {
		to = zipped{zip.NewWriter(out)}
	} else {
		compressed := gzip.NewWriter(out)
		to = tarred{tar.NewWriter(compressed), compressed}
	}
	entries, err := os.ReadDir(folder) // by name
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := addFile(to, filepath.Join(folder, e.Name()), path.Join(filepath.Base(folder), e.Name())); err != nil {
			return err
		}
	}
	return to.Close()
}

func addFile(to adder, file, name string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return to.add(name, info.Size(), mode, f)
}

type zipped struct{ *zip.Writer }

func (z zipped) add(name string, _ int64, mode os.FileMode, content io.Reader) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch}
	h.SetMode(mode)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(w, content)
	}
	return err
}

type tarred struct {
	*tar.Writer
	compressed *gzip.Writer
}

func (t tarred) add(name string, size int64, mode os.FileMode, content io.Reader) error {
	err := t.WriteHeader(&tar.Header{Name: name, Size: size, Mode: int64(mode), ModTime: epoch, Format: tar.FormatPAX})
	if err == nil {
		_, err = io.Copy(t.Writer, content)
	}
	return err
}

func (t tarred) Close() error { return errors.Join(t.Writer.Close(), t.compressed.Close()) }
