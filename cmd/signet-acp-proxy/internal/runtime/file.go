package runtime

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes a file that only its owner can read, at once: nobody sees half of it, and one that cannot be written
// leaves what was there.
func WriteFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".signet-acp-proxy-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = errors.Join(write(b), b.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
