package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// sockets are the Unix sockets of a server, one for each session, in one folder that only its owner can enter.
type sockets struct {
	dir  string // "" until there is one
	lock *flock.Flock
	n    int
}

const (
	folderPrefix = "signet-acp-"
	longestPath  = 100 // bytes of a socket's path; macOS takes 103, Linux 107
)

// Socket gives the path of a Unix socket on which the tools are served on behalf of a session, until Close. who says whose session it is, whenever a
// tool is called.
func (s *Server) Socket(who func() memory.Session) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errClosed
	}
	if s.sockets.dir == "" {
		if s.sockets.dir, s.sockets.lock, err = socketFolder(); err != nil {
			return "", fmt.Errorf("making a folder for the memory tools' socket: %w", err)
		}
		s.tasks.Add(1)
		go func() {
			defer s.tasks.Done()
			sweep()
		}()
	}
	s.sockets.n++
	path = filepath.Join(s.sockets.dir, strconv.Itoa(s.sockets.n))
	l, err := net.Listen("unix", path)
	if err != nil {
		return "", fmt.Errorf("listening for the memory tools: %w", err)
	}
	e := newEndpoint(s, who)
	s.tasks.Add(1)
	go func() {
		defer s.tasks.Done()
		s.accept(l, e)
	}()
	s.watch() // so that it is known by the time that the harness asks
	return path, nil
}

// accept serves what connects to a socket until the server ends.
func (s *Server) accept(l net.Listener, e *endpoint) {
	defer context.AfterFunc(s.ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ECONNABORTED) {
			s.o.Log.Warn().Err(err).Msg("taking a connection to the memory tools")
			continue
		}
		if err != nil {
			return
		}
		if err := checkPeer(conn.(*net.UnixConn)); err != nil {
			s.o.Log.Warn().Err(err).Msg("refused a connection to the memory tools")
			conn.Close()
			continue
		}
		if !s.begin() {
			conn.Close()
			return
		}
		go func() {
			defer s.tasks.Done()
			defer conn.Close()
			if err := s.serve(s.ctx, e, conn, conn); err != nil {
				s.o.Log.Info().Err(err).Msg("a connection to the memory tools ended")
			}
		}()
	}
}

// removeSockets removes the folder. Nothing listens any more.
func (s *Server) removeSockets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sockets.dir != "" {
		s.sockets.lock.Close()
		os.RemoveAll(s.sockets.dir)
		s.sockets.dir = ""
	}
}

// lockName is the file in such a folder that its server holds a lock on: where the lock can be taken, the server was killed.
const lockName = "lock"

// socketFolder makes a folder of mode 0700 in which a socket's path is short enough.
func socketFolder() (string, *flock.Flock, error) {
	err := errors.New("every temp folder's path is too long")
	for _, parent := range socketParents() {
		if len(parent)+len("/"+folderPrefix+"1234567890"+"/999999") > longestPath {
			continue
		}
		var dir string
		if dir, err = os.MkdirTemp(parent, folderPrefix); err != nil {
			continue
		}
		lock := flock.New(filepath.Join(dir, lockName))
		locked, failed := lock.TryLock()
		if locked {
			return dir, lock, nil
		}
		err = fmt.Errorf("%s cannot be locked (%v)", lock.Path(), failed)
		os.RemoveAll(dir)
	}
	return "", nil, err
}

// socketParents are where such a folder can be.
func socketParents() []string {
	parents := []string{os.TempDir()}
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		parents = append(parents, run)
	}
	return append(parents, "/tmp")
}

// sweep removes what killed servers have left. A folder without a lock is left alone: it may be about to get one.
func sweep() {
	for _, parent := range socketParents() {
		found, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*", lockName))
		for _, name := range found {
			if !own(filepath.Dir(name)) {
				continue
			}
			lock := flock.New(name)
			if free, err := lock.TryLock(); free && err == nil {
				lock.Close()
				os.RemoveAll(filepath.Dir(name))
			}
		}
	}
}

// Pipe carries a client's stdin and stdout to the socket of a server until either ends: what a harness starts as its MCP server. It keeps no state
// and reads no configuration. The error says what to do when nobody listens.
func Pipe(path string, in io.Reader, out io.Writer) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return fmt.Errorf("no memory tools: the relay that served them has ended; start the agent again (%w)", err)
	}
	defer conn.Close()
	go func() { // ends with the process, for a read from a terminal or pipe cannot be interrupted
		_, _ = io.Copy(conn, in)
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	if _, err = io.Copy(out, conn); errors.Is(err, syscall.ECONNRESET) { // the relay has ended
		return nil
	}
	return err
}
