package eventlog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/files"
)

// version is the format's: a header and lines of events. It does not change when kinds or fields are added.
const version = 1

// A header is the first line of a file.
type header struct {
	Version int                     `json:"eventlog"`
	At      int64                   `json:"at"` // unix milliseconds
	Process correlation.ProcessInfo `json:"process"`
}

// A file of events is named <process>.events. Earlier versions, whose processes wrote all events into files and may
// still run, name them <process>.<number>.events.
type file struct {
	path    string
	process string
	number  int
}

const suffix = ".events"

// fileOf is the file of a process of this version.
func fileOf(dir, process string) file { return file{filepath.Join(dir, process+suffix), process, 0} }

// filesIn returns the files of events in a folder, by process and number.
func filesIn(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []file
	for _, e := range entries {
		name, isOurs := strings.CutSuffix(e.Name(), suffix)
		process, number, _ := strings.Cut(name, ".")
		n, _ := strconv.Atoi(number)
		_, err := ulid.ParseStrict(name)
		if isOurs && (n > 0 && process != "" || err == nil) && e.Type().IsRegular() {
			all = append(all, file{filepath.Join(dir, e.Name()), process, n})
		}
	}
	slices.SortFunc(all, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.number, b.number))
	})
	return all, err
}

// Why a file is left alone.
var (
	errNewer    = errors.New("written by a newer version")
	errForeign  = errors.New("owned by another user")
	errNoHeader = errors.New("no file of events")
)

// open opens a file, if it is of our own user and has a header of a known version, and returns the offset after the
// header. The error is io.ErrUnexpectedEOF if the header is not complete: the process died, or is just
// beginning.
func (f file) open(mode int) (r *os.File, h header, size int64, err error) {
	if r, err = os.OpenFile(f.path, mode|files.NoFollow, 0); err != nil {
		return nil, h, 0, err
	}
	defer func(opened *os.File) { // r is nil by then
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}(r)
	info, err := r.Stat()
	if err == nil && !files.Ours(info) {
		err = errForeign
	}
	if err != nil {
		return nil, h, 0, err
	}
	first, err := bufio.NewReader(io.LimitReader(r, maxHeader)).ReadBytes('\n')
	switch {
	case errors.Is(err, io.EOF) && len(first) == maxHeader:
		return nil, h, 0, errNoHeader
	case errors.Is(err, io.EOF):
		return nil, h, 0, io.ErrUnexpectedEOF
	case err != nil:
		return nil, h, 0, err
	}
	switch err := json.Unmarshal(first, &h); {
	case err == nil && h.Version > version:
		return nil, h, 0, errNewer
	case err != nil || h.Version != version || h.Process.ID == "":
		return nil, h, 0, errNoHeader
	}
	return r, h, int64(len(first)), nil
}

const maxHeader = 16 << 10 // bytes

// write writes the header, and returns its size.
func (h header) write(w *os.File) (int64, error) {
	text, _ := json.Marshal(h) // texts and numbers
	n, err := w.Write(append(text, '\n'))
	if err != nil {
		err = errors.Join(err, w.Truncate(0))
	}
	return int64(n), err
}

const (
	maxRead = 64 << 10 // bytes of lines that are taken in at a time, give or take a line
	maxLine = 2 << 20  // what is longer is no line of ours; it is skipped without being held
)

// readLines returns the whole lines that begin at a position, about maxRead bytes of them. end is the position behind
// the last. No lines and end == from: there is no whole line. The lines are good as long as buf is left alone. It has
// room for maxRead bytes or more, and grows with a long line. last is the number of the line before; one that has none
// of its own has that, but in a file of an earlier version, where all are numbered by their position.
func (f file) readLines(r io.ReaderAt, from int64, last *int64, buf *[]byte) (lines []line, end int64, err error) {
	size := maxRead
	n, err := r.ReadAt((*buf)[:size], from)
	for n == size && bytes.IndexByte((*buf)[:n], '\n') < 0 {
		if n == maxLine {
			if end, err = skipLine(r, from); err == nil && end > from {
				lines = []line{{n: f.numberAt(end, *last), strange: errTooLong}}
			}
			return lines, end, err
		}
		if size = min(2*size, maxLine); size > len(*buf) {
			*buf = make([]byte, size)
		}
		n, err = r.ReadAt((*buf)[:size], from)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, from, err
	}
	text := (*buf)[:n]
	end = from
	for {
		one, rest, whole := bytes.Cut(text, []byte{'\n'})
		if !whole {
			return lines, end, nil
		}
		end += int64(len(one)) + 1
		text = rest
		if one = bytes.TrimSpace(one); len(one) == 0 {
			continue
		}
		l, err := parse(one)
		l.text, l.strange = one, err
		if l.n == 0 {
			l.n = f.numberAt(end, *last)
		}
		*last = l.n
		lines = append(lines, l)
	}
}

// numberAt is the number of a line that has none, by the position behind it.
func (f file) numberAt(end, last int64) int64 {
	if f.number == 0 {
		return last
	}
	return int64(f.number)<<40 | end // as migration 0022 has it
}

var errTooLong = fmt.Errorf("longer than %d bytes", maxLine)

// skipLine returns the offset after a line of any length, or from if it has no line end yet.
func skipLine(r io.ReaderAt, from int64) (int64, error) {
	buf := make([]byte, maxRead)
	for at := from; ; {
		n, err := r.ReadAt(buf, at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return from, nil
		}
		if err != nil {
			return from, err
		}
	}
}

// full reports whether an error says that the disk, or a quota, is full.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
