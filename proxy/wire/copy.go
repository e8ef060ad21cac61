package wire

import (
	"errors"
	"io"
)

// ErrNoReader says that the end that is written to has gone.
var ErrNoReader = errors.New("nobody reads any more")

// Copy is the byte pump: no frames, no decisions. It returns nil at the end of src, ErrNoReader where dst takes no
// more.
func Copy(dst io.Writer, src io.Reader) error {
	buf := make([]byte, BufferSize)
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
