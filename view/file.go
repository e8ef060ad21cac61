package view

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
)

// WriteFile writes the page into a file that only its owner can read, at once: nobody sees half a page.
func (p *Page) WriteFile(name string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".view-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = errors.Join(p.Write(b), b.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
