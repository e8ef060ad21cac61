package mcpserver

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// In bounds no socket can be reached, or none can be made, so the tools are served over named pipes in a folder of the
// child's own. Whoever reaches the folder reaches the tools, and nobody else's.
//
// The folder has a few lanes of two pipes each. A client takes a lane by a lock on its first pipe. A pipe that we hold
// open has no end, so a line that begins with @ says what an end would: "@NAME" is a client that begins, which we
// repeat so that it can tell our answers from those to the one before; "@" is its end, or ours.
const (
	lanes = 4
	mark  = '@'
)

// Pipes is Socket for a program in bounds: it serves the tools over named pipes in a new folder below one.
func (s *Server) Pipes(below string, who func() memory.Session) (address string, err error) {
	address = filepath.Join(below, "mcp-"+rand.Text()[:8])
	// what runs in bounds may put links there, so that nothing is found by its path again
	if err := unix.Mkdir(address, 0o700); err != nil {
		return "", fmt.Errorf("making a folder for the memory tools: %w", err)
	}
	folder, err := unix.Open(address, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("opening the memory tools' folder: %w", err)
	}
	defer unix.Close(folder)
	e := s.endpoint(who)
	ctx, release := context.WithCancel(s.ctx)
	defer func() {
		if err != nil {
			release()
		}
	}()
	for i := range lanes {
		in, out, err := makeLane(folder, strconv.Itoa(i))
		if err != nil {
			return "", fmt.Errorf("making the memory tools' pipes: %w", err)
		}
		if !s.run(func() { serveLane(ctx, e, in, out) }) {
			in.Close()
			out.Close()
			return "", errClosed
		}
	}
	s.pipes.Store(address, release)
	s.look()
	return address, nil
}

func makeLane(folder int, name string) (in, out *os.File, err error) {
	var ends [2]*os.File
	for i, end := range []string{".in", ".out"} {
		if err := unix.Mkfifoat(folder, name+end, 0o600); err != nil {
			return nil, nil, err
		}
		fd, err := unix.Openat(folder, name+end, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, nil, err
		}
		var found unix.Stat_t
		if err := unix.Fstat(fd, &found); err != nil || found.Mode&unix.S_IFMT != unix.S_IFIFO {
			unix.Close(fd)
			return nil, nil, errors.New("another file is there")
		}
		ends[i] = os.NewFile(uintptr(fd), name+end)
	}
	return ends[0], ends[1], nil
}

// serveLane serves the clients of a lane, one after the other.
func serveLane(ctx context.Context, e *endpoint, in, out *os.File) {
	defer out.Close()
	defer in.Close()
	defer context.AfterFunc(ctx, func() { _ = in.SetReadDeadline(time.Now()) })()
	end := func(bool) {}
	var to io.Writer = io.Discard
	_ = eachLine(in, func(name string) bool {
		end(name != "")
		end, to = func(bool) {}, io.Discard
		if name != "" {
			to, end = e.serveClient(ctx, name, out)
		}
		return true
	}, func(part []byte) { _, _ = to.Write(part) })
	end(true)
}

// serveClient serves the client that calls itself name. end ends that: at once, or when all is answered.
func (e *endpoint) serveClient(ctx context.Context, name string, out *os.File) (to io.Writer, end func(atOnce bool)) {
	ctx, cancel := context.WithCancel(ctx)
	_, _ = fmt.Fprintf(out, "\n%c%s\n", mark, name) // an answer may have broken off
	told := &answers{out: out}
	from, to := io.Pipe()
	ended := make(chan struct{})
	guard.Go("memory tools", func() {
		defer close(ended)
		if err := e.serve(ctx, from, told); err != nil {
			e.o.Log.Info().Err(err).Msg("a connection to the memory tools ended")
		}
		from.Close()
	})
	return to, func(atOnce bool) {
		defer cancel()
		if atOnce { // nobody may be there to read
			cancel()
			_ = out.SetWriteDeadline(time.Now())
		}
		to.(io.Closer).Close()
		<-ended
		told.end()
		_ = out.SetWriteDeadline(time.Time{})
		if !atOnce {
			_, _ = fmt.Fprintf(out, "%c\n", mark)
		}
	}
}

// Answers are those to one client of a lane. Close keeps the pipe open for the next; what is answered after end is
// nobody's.
type answers struct {
	out *os.File

	mu    sync.Mutex // guards ended, and writing
	ended bool
}

func (a *answers) Write(answer []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return 0, os.ErrClosed
	}
	return a.out.Write(answer)
}

func (a *answers) Close() error { return nil }

func (a *answers) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// throughPipes is Pipe where the address is a folder of pipes.
func throughPipes(folder string, in io.Reader, out io.Writer) error {
	to, from, err := takeLane(folder)
	if err != nil {
		return fmt.Errorf("no memory tools: %w", err)
	}
	defer from.Close()
	name := rand.Text()
	guard.Go("pipe", func() { // ends with the process, as in Pipe
		_, _ = fmt.Fprintf(to, "\n%c%s\n", mark, name)
		_, _ = io.Copy(to, in)
		_, _ = fmt.Fprintf(to, "\n%c\n", mark)
	})
	begun := false
	var failed error
	err = eachLine(from, func(said string) bool {
		begun = begun || said == name
		return !begun || said != "" // "": all is answered
	}, func(part []byte) {
		if begun && failed == nil {
			if _, failed = out.Write(part); failed != nil {
				from.Close()
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// takeLane opens the first lane that nobody has taken. The lock ends with the file.
func takeLane(folder string) (to, from *os.File, err error) {
	for i := range lanes {
		name := filepath.Join(folder, strconv.Itoa(i))
		fd, err := unix.Open(name+".in", unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, nil, fmt.Errorf("the relay of these tools has ended; start the agent again (%w)", err)
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			from, err = os.OpenFile(name+".out", os.O_RDONLY|unix.O_NONBLOCK, 0)
			return os.NewFile(uintptr(fd), name), from, err
		}
		unix.Close(fd)
	}
	return nil, nil, fmt.Errorf("%d programs are connected already", lanes)
}

// eachLine reads lines to the end, or until marked returns false. It gives marked what stands behind a mark, and passed
// the pieces of all other lines.
func eachLine(from io.Reader, marked func(text string) (goOn bool), passed func(part []byte)) error {
	lines := bufio.NewReader(from)
	for begins := true; ; {
		part, err := lines.ReadSlice('\n')
		if begins && len(part) > 0 && part[0] == mark && err == nil {
			if !marked(strings.TrimSpace(string(part[1:]))) {
				return nil
			}
		} else if len(part) > 0 {
			passed(part)
		}
		begins = err == nil
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, os.ErrClosed):
			return nil
		default:
			return err
		}
	}
}
