package wire

import (
	"errors"
	"io"
)

// ErrNoReader says that nobody reads what is written.
var ErrNoReader = errors.New("nobody reads any more")

// Copy is the byte pump: no frames, no decisions. It returns nil at the end of src, ErrNoReader after a failed write,
// and otherwise the error of reading.
func Copy(dst io.Writer, src io.Reader) error {
	buf := make([]byte, bufferSize)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			if _, werr := dst.Write(buf[:n]); werr != nil {
				return ErrNoReader
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
