package runtime

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes a file with mode 0600, atomically: nobody sees half of it, and on an error the old file stays.
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
