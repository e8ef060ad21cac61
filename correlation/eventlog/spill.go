package eventlog

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// A spill is the file of this process for what the database does not take. It is made when there is something to write,
// and goes once the database has all of it. Only the writer writes to it.
type spill struct {
	o Options
	file
	header      header
	first, last int64 // numbers of its events

	openFile
	buf []byte // reused

	mu sync.Mutex // guards out, for sync
}

// An openFile is what a spill writes to.
type openFile struct {
	out    *os.File    // nil: nothing is spilled
	opened fs.FileInfo // of out
	size   int64
	torn   bool // a write broke off: a line end comes first
}

func newSpill(o Options) *spill {
	return &spill{o: o, file: spillOf(o.Dir, o.Process.ID), header: header{version, o.Now().UnixMilli(), o.Process}}
}

// empty reports whether nothing is spilled.
func (s *spill) empty() bool { return s.current().out == nil }

// stands reports whether the file, if there is one, is still at its path.
func (s *spill) stands() bool {
	o := s.current()
	return o.out == nil || s.is(o.opened)
}

func (s *spill) current() openFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openFile
}

// begin makes a file at a path, with a header if it has none.
func (s *spill) begin(path string) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|files.NoFollow, 0o600)
	if err != nil {
		return err
	}
	size, err := out.Seek(0, io.SeekEnd)
	if err == nil && size == 0 {
		size, err = s.header.write(out)
	}
	info, statErr := out.Stat()
	if err = errors.Join(err, statErr); err != nil {
		return errors.Join(err, out.Close())
	}
	s.set(openFile{out, info, size, true}) // whatever stands there: a line begins
	return nil
}

func (s *spill) set(o openFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openFile = o
}

// again puts events in front of what is spilled, in a file that is made anew at its path.
func (s *spill) again(events []queued) (err error) {
	var rest []byte
	old := s.openFile
	if old.out != nil {
		events = slices.DeleteFunc(slices.Clone(events), func(q queued) bool { return q.n >= s.first })
		if rest, err = io.ReadAll(io.NewSectionReader(old.out, 0, old.size)); err != nil {
			return err
		}
		_, rest, _ = bytes.Cut(rest, []byte{'\n'}) // the header
	}
	if len(rest)+len(events) == 0 {
		return nil
	}
	making := s.path + ".new"
	if err := s.begin(making); err != nil {
		return err
	}
	lines, _ := s.encode(events)
	if err = s.append(append(lines, rest...)); err == nil {
		err = os.Rename(making, s.path)
	}
	if err != nil {
		err = errors.Join(err, s.close(), os.Remove(making))
		s.set(old)
	} else if old.out != nil {
		err = old.out.Close()
	}
	return err
}

// encode encodes events, and returns where each one's line ends.
func (s *spill) encode(batch []queued) (buf []byte, ends []int) {
	ends, buf = make([]int, len(batch)), s.buf[:0]
	for i, q := range batch {
		if line, err := appendLine(buf, q); err == nil {
			buf = line
		} else {
			s.o.Log.Error().Err(err).Msg("an event that cannot be written")
		}
		ends[i] = len(buf)
	}
	if s.buf = buf; cap(buf) > 4*maxWrite { // of something large, once
		s.buf = nil
	}
	if len(batch) > 0 && (s.first == 0 || batch[0].n < s.first) {
		s.first = batch[0].n
	}
	if len(batch) > 0 {
		s.last = max(s.last, batch[len(batch)-1].n)
	}
	return buf, ends
}

// write brings events to the file, in one write where that is possible. It returns those that the disk did not take,
// and why.
func (s *spill) write(batch []queued) (rest []queued, err error) {
	if s.empty() {
		if err := s.begin(s.path); err != nil {
			return batch, err
		}
	}
	buf, ends := s.encode(batch)
	if err = s.append(buf); err != nil {
		for i, from := 0, 0; i < len(batch); i++ { // a disk that is nearly full takes some of it
			if s.append(buf[from:ends[i]]) != nil {
				return batch[i:], err
			}
			from = ends[i]
		}
	}
	return nil, nil
}

// append writes whole lines, or nothing of them.
func (s *spill) append(text []byte) error {
	if s.torn {
		text = append([]byte{'\n'}, text...)
	}
	n, err := s.out.Write(text)
	switch {
	case err == nil:
		s.torn = false
		s.size += int64(n)
	case n > 0:
		if s.torn = s.out.Truncate(s.size) != nil; s.torn {
			s.size += int64(n)
		}
	}
	return err
}

// remove removes the file: the database has all of it.
func (s *spill) remove() error {
	err := s.close()
	if gone := os.Remove(s.path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	s.first, s.last = 0, 0
	return err
}

// sync has the system bring the file to the disk itself.
func (s *spill) sync() error {
	s.mu.Lock()
	out := s.out
	s.mu.Unlock()
	if out == nil {
		return nil
	}
	if err := out.Sync(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil // it has gone meanwhile
}

func (s *spill) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil {
		return nil
	}
	err := s.out.Close()
	s.out = nil
	return err
}
