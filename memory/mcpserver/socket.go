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
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// sockets is the Unix socket of a server, in a folder that only its owner can enter. Sessions are numbered there, and who connects begins with a number: a
// socket for each would cost a descriptor until the end, for few clients close their sessions.
type sockets struct {
	dir  string // "" until there is one
	lock *flock.Flock
	ends []*endpoint
}

const (
	folderPrefix = "signet-acp-"
	socketName   = "mcp"
	longestPath  = 100 // bytes of a socket's address; macOS takes a path of 103, Linux of 107

	longestNumber = len("999999\n")
	numberLimit   = 10 * time.Second // for a client to say its number
	acceptPause   = 100 * time.Millisecond
)

// Socket gives the address at which the tools are served on behalf of a session, until Close: for Pipe. who says whose session it is, whenever a tool is
// called.
func (s *Server) Socket(who func() memory.Session) (address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errClosed
	}
	if s.sockets.dir == "" {
		if err := s.listen(); err != nil {
			return "", err
		}
	}
	address = filepath.Join(s.sockets.dir, socketName) + ":" + strconv.Itoa(len(s.sockets.ends))
	s.sockets.ends = append(s.sockets.ends, newEndpoint(s, who))
	s.watch() // so that it is known by the time that the harness asks
	return address, nil
}

// listen begins to serve on the socket. The server's lock is held.
func (s *Server) listen() error {
	dir, lock, err := socketFolder()
	if err != nil {
		return fmt.Errorf("making a folder for the memory tools' socket: %w", err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		lock.Close()
		os.RemoveAll(dir)
		return fmt.Errorf("listening for the memory tools: %w", err)
	}
	s.sockets.dir, s.sockets.lock = dir, lock
	s.tasks.Add(2)
	go func() {
		defer s.tasks.Done()
		sweep()
	}()
	go func() {
		defer s.tasks.Done()
		s.accept(l)
	}()
	return nil
}

// accept serves what connects to the socket until the server ends.
func (s *Server) accept(l net.Listener) {
	defer context.AfterFunc(s.ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ECONNABORTED) {
			s.o.Log.Warn().Err(err).Msg("taking a connection to the memory tools")
			select {
			case <-time.After(acceptPause):
			case <-s.ctx.Done():
			}
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
			e, err := s.endpointOf(conn)
			if err == nil {
				err = s.serve(s.ctx, e, conn, conn)
			}
			if err != nil {
				s.o.Log.Info().Err(err).Msg("a connection to the memory tools ended")
			}
		}()
	}
}

// endpointOf reads whose tools a client wants: a line with the session's number. Nothing behind it is read.
func (s *Server) endpointOf(conn net.Conn) (*endpoint, error) {
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	if err := conn.SetReadDeadline(time.Now().Add(numberLimit)); err != nil {
		return nil, err
	}
	var line []byte
	for next := make([]byte, 1); len(line) < longestNumber; line = append(line, next[0]) {
		if _, err := conn.Read(next); err != nil {
			return nil, fmt.Errorf("reading the session's number: %w", err)
		}
		if next[0] == '\n' {
			break
		}
	}
	n, err := strconv.Atoi(string(line))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || n < 0 || n >= len(s.sockets.ends) {
		return nil, fmt.Errorf("no session has the number %q", line)
	}
	return s.sockets.ends[n], conn.SetReadDeadline(time.Time{})
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
		if len(parent)+len("/"+folderPrefix+"1234567890/"+socketName+":999999") > longestPath {
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

// dial connects to what Socket gave.
func dial(address string) (net.Conn, error) {
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 {
		return nil, fmt.Errorf("%s is no address of a relay's memory tools", address)
	}
	conn, err := net.Dial("unix", address[:colon])
	if err != nil {
		return nil, fmt.Errorf("no memory tools: the relay that served them has ended; start the agent again (%w)", err)
	}
	if _, err := fmt.Fprintln(conn, address[colon+1:]); err != nil {
		conn.Close()
		return nil, fmt.Errorf("no memory tools: the relay that served them ends (%w)", err)
	}
	return conn, nil
}

// Pipe carries a client's stdin and stdout to the socket of a server until either ends: what a harness starts as its MCP server. It keeps no state
// and reads no configuration. The error says what to do when nobody listens.
func Pipe(address string, in io.Reader, out io.Writer) error {
	conn, err := dial(address)
	if err != nil {
		return err
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
