package eventlog

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// An output is the file of this process. It is made when there is something to write. Only the writer writes to it.
type output struct {
	file
	log    zerolog.Logger
	header header
	last   int64 // number of its last event

	openFile
	buf  bytes.Buffer            // reused
	disk atomic.Pointer[os.File] // out, for sync
}

// An openFile is what an output writes to.
type openFile struct {
	out    *os.File    // nil: there is none
	opened fs.FileInfo // of out
	size   int64
	torn   bool // a write broke off: a line end comes first
}

// stands reports whether the file, if there is one, is still at its path, or nobody can tell.
func (o *output) stands() bool {
	now, err := os.Lstat(o.path)
	if o.out == nil || err != nil {
		return o.out == nil || !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(o.opened, now)
}

// begin makes a file at a path, with a header if it has none.
func (o *output) begin(path string) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|files.NoFollow, 0o600)
	if err != nil {
		return err
	}
	size, err := out.Seek(0, io.SeekEnd)
	if err == nil && size == 0 {
		size, err = o.header.write(out)
	}
	info, statErr := out.Stat()
	if err = errors.Join(err, statErr); err != nil {
		return errors.Join(err, out.Close())
	}
	o.set(openFile{out, info, size, true}) // whatever stands there: a line begins
	return nil
}

func (o *output) set(f openFile) {
	o.openFile = f
	o.disk.Store(f.out)
}

// again puts events in front of what the file has, in one that is made anew at its path. Some may be in it twice.
func (o *output) again(events []queued) (err error) {
	var rest []byte
	old := o.openFile
	if old.out != nil {
		if rest, err = io.ReadAll(io.NewSectionReader(old.out, 0, old.size)); err != nil {
			return err
		}
		_, rest, _ = bytes.Cut(rest, []byte{'\n'}) // the header
	}
	if len(rest)+len(events) == 0 {
		return nil
	}
	making := o.path + ".new"
	if err := o.begin(making); err != nil {
		return err
	}
	lines, _ := o.encode(events)
	if err = o.append(append(lines, rest...)); err == nil {
		err = os.Rename(making, o.path)
	}
	if err != nil {
		err = errors.Join(err, o.close(), os.Remove(making))
		o.set(old)
	} else if old.out != nil {
		err = old.out.Close()
	}
	return err
}

// encode encodes events, and returns where each one's line ends.
func (o *output) encode(batch []queued) (lines []byte, ends []int) {
	if o.buf.Reset(); o.buf.Cap() > 4*maxWrite { // of something large, once
		o.buf = bytes.Buffer{}
	}
	for _, q := range batch {
		if err := writeLine(&o.buf, q); err != nil {
			o.log.Error().Err(err).Msg("an event that cannot be written")
		}
		ends = append(ends, o.buf.Len())
		o.last = max(o.last, q.n)
	}
	return o.buf.Bytes(), ends
}

// write brings events to the file, in one write where that is possible. It returns those that the disk did not take,
// and why.
func (o *output) write(batch []queued) (rest []queued, err error) {
	if o.out == nil {
		if err := o.begin(o.path); err != nil {
			return batch, err
		}
	}
	buf, ends := o.encode(batch)
	if err = o.append(buf); err != nil {
		for i, from := 0, 0; i < len(batch); i++ { // a disk that is nearly full takes some of it
			if o.append(buf[from:ends[i]]) != nil {
				return batch[i:], err
			}
			from = ends[i]
		}
	}
	return nil, nil
}

// append writes whole lines, or nothing of them.
func (o *output) append(text []byte) error {
	if o.torn {
		text = append([]byte{'\n'}, text...)
	}
	n, err := o.out.Write(text)
	switch {
	case err == nil:
		o.torn = false
		o.size += int64(n)
	case n > 0:
		if o.torn = o.out.Truncate(o.size) != nil; o.torn {
			o.size += int64(n)
		}
	}
	return err
}

// remove removes the file: the database has all of it.
func (o *output) remove() error {
	err := o.close()
	if gone := os.Remove(o.path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// sync has the system bring the file to the disk itself.
func (o *output) sync() error {
	out := o.disk.Load()
	if out == nil {
		return nil
	}
	if err := out.Sync(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil // it has gone meanwhile
}

func (o *output) close() error {
	if o.out == nil {
		return nil
	}
	err := o.out.Close()
	o.set(openFile{})
	return err
}
