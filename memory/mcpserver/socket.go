package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// sockets is the Unix socket of a server, in a folder that only its owner can enter. All sessions share it: a client
// begins with its session's token. A socket each would cost a file descriptor until the server's end, for few clients
// close their sessions.
type sockets struct {
	*lifetime
	*tokens
	log zerolog.Logger

	mu   sync.Mutex // guards what follows
	dir  string     // "" until there is one
	lock *flock.Flock
}

const (
	folderPrefix = "signet-acp-"
	socketName   = "mcp"
	longestPath  = 100 // bytes of a socket's path; macOS takes 103, Linux 107

	longestToken = 64               // bytes
	tokenLimit   = 10 * time.Second // for a client to say its token
	acceptPause  = 100 * time.Millisecond
)

// listen returns the socket's path. The first call begins to listen.
func (s *sockets) listen() (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return "", errClosed
	}
	if s.dir == "" {
		if err := s.listenLocked(); err != nil {
			return "", err
		}
	}
	return filepath.Join(s.dir, socketName), nil
}

func (s *sockets) listenLocked() error {
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
	s.dir, s.lock = dir, lock
	s.run(sweep)
	s.run(func() { s.accept(l) })
	return nil
}

// accept serves connections to the socket until the server ends.
func (s *sockets) accept(l net.Listener) {
	defer context.AfterFunc(s.ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no more files, or one that has gone: it passes
			s.log.Warn().Err(err).Msg("taking a connection to the memory tools")
			select {
			case <-time.After(acceptPause):
			case <-s.ctx.Done():
			}
			continue
		}
		if err := checkPeer(conn.(*net.UnixConn)); err != nil {
			s.log.Warn().Err(err).Msg("refused a connection to the memory tools")
			conn.Close()
			continue
		}
		served := s.run(func() {
			defer conn.Close()
			e, err := s.endpointOf(conn)
			if err == nil {
				err = e.serve(s.ctx, conn, conn)
			}
			if err != nil {
				s.log.Info().Err(err).Msg("a connection to the memory tools ended")
			}
		})
		if !served {
			conn.Close()
			return
		}
	}
}

// endpointOf reads the session's token, one line, and returns its endpoint. It reads nothing behind that line.
func (s *sockets) endpointOf(conn net.Conn) (*endpoint, error) {
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	if err := conn.SetReadDeadline(time.Now().Add(tokenLimit)); err != nil {
		return nil, err
	}
	var line []byte
	for next := make([]byte, 1); len(line) < longestToken; line = append(line, next[0]) {
		if _, err := conn.Read(next); err != nil {
			return nil, fmt.Errorf("reading the session's token: %w", err)
		}
		if next[0] == '\n' {
			break
		}
	}
	e := s.endpoint(string(line))
	if e == nil {
		return nil, errors.New("no session has the token that was given")
	}
	return e, conn.SetReadDeadline(time.Time{})
}

// remove removes the folder, once nothing listens any more.
func (s *sockets) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		s.lock.Close()
		os.RemoveAll(s.dir)
		s.dir = ""
	}
}

// lockName is a file in the folder that the server holds a lock on. Where the lock is free, the server was killed.
const lockName = "lock"

// youngTime is the age before which a folder is never taken for that of a killed server.
const youngTime = time.Minute

// socketFolder makes a folder of mode 0700 in which a socket's path is short enough, and locks it.
func socketFolder() (string, *flock.Flock, error) {
	err := errors.New("every temp folder's path is too long")
	for _, parent := range socketParents() {
		if len(parent)+len("/"+folderPrefix+"1234567890/"+socketName) > longestPath {
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

// socketParents are the folders in which that folder can be made.
func socketParents() []string {
	parents := []string{os.TempDir()}
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		parents = append(parents, run)
	}
	if !slices.Contains(parents, "/tmp") {
		parents = append(parents, "/tmp")
	}
	return parents
}

// sweep removes the folders of servers that were killed. A young folder is left alone: its server may be about to lock
// it. So is one without a lock, which was killed before it made one.
func sweep() {
	for _, parent := range socketParents() {
		found, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*"))
		for _, dir := range found {
			name := filepath.Join(dir, lockName)
			folder, err := os.Lstat(dir)
			if err != nil || !folder.IsDir() || !files.Ours(folder) {
				continue
			}
			if info, err := os.Lstat(name); err != nil || time.Since(info.ModTime()) < youngTime {
				continue
			}
			lock := flock.New(name)
			if free, err := lock.TryLock(); free && err == nil {
				lock.Close()
				os.RemoveAll(dir)
			}
		}
	}
}
