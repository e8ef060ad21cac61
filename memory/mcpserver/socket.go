package mcpserver

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/lineage"
)

// sockets is the Unix socket of a server, in a folder that only its owner can enter. All sessions share it: a socket
// each would cost a file descriptor until the server's end, for few clients close their sessions. A session's address
// is a file beside it: the client says the file's name and, if it can read it, the token that stands there. So neither
// an argument nor a variable opens anything.
type sockets struct {
	*lifetime
	admission admission
	refused   func(why string) // may be nil
	log       zerolog.Logger

	mu    sync.Mutex // guards what follows
	dir   string     // "" until there is one
	lock  *flock.Flock
	ends  map[string]*endpoint // by the names of their files
	given int                  // names that were given
}

const (
	folderPrefix = "signet-acp-"
	socketName   = "mcp"
	longestPath  = 100 // bytes of a socket's path; macOS takes 103, Linux 107

	longestHello = 64               // bytes
	helloLimit   = 10 * time.Second // for a client to say which session it wants, and for our answer
	turnLimit    = 2 * time.Second  // for the client before to leave: a harness that starts it again may be quicker
	welcome      = "ok"             // our answer, a line; any other says why not
	acceptPause  = 100 * time.Millisecond
)

// issue returns an endpoint's address. The first call begins to listen.
func (s *sockets) issue(e *endpoint) (address string, err error) {
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
	s.given++
	name := strconv.Itoa(s.given)
	address = filepath.Join(s.dir, name)
	if err := os.WriteFile(address, []byte(e.token), 0o600); err != nil {
		return "", fmt.Errorf("leaving a session's token: %w", err)
	}
	s.ends[name] = e
	return address, nil
}

// revoke ends an address.
func (s *sockets) revoke(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := filepath.Base(address); s.ends[name] != nil {
		delete(s.ends, name)
		_ = os.Remove(address) // or it goes with the folder
	}
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
	s.dir, s.lock, s.ends = dir, lock, map[string]*endpoint{}
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
		accepted := lineage.Now()
		served := s.run(func() {
			defer conn.Close()
			if err := s.serve(conn.(*net.UnixConn), accepted); err != nil {
				s.log.Info().Err(err).Msg("a connection to the memory tools ended")
			}
		})
		if !served {
			conn.Close()
			return
		}
	}
}

// serve serves a client that may come in, and tells any other why it may not.
func (s *sockets) serve(conn *net.UnixConn, accepted lineage.Moment) error {
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	needsToken, err := s.admission.judge(conn, accepted) // before it can have ended, and another have its id
	if failed := conn.SetDeadline(time.Now().Add(helloLimit)); failed != nil {
		return failed
	}
	hello, failed := readLine(conn, longestHello)
	if failed != nil {
		return fmt.Errorf("reading which session a client wants: %w", failed)
	}
	var e *endpoint
	if err == nil {
		e, err = s.endpoint(hello, needsToken)
	}
	if err == nil && needsToken {
		err = e.enter(s.ctx)
		defer e.leave(err)
	}
	if err != nil {
		if errors.Is(err, errConfined) && s.refused != nil {
			s.refused(err.Error())
		}
		_, failed := fmt.Fprintln(conn, err)
		return errors.Join(err, failed)
	}
	if _, err := fmt.Fprintln(conn, welcome); err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return e.serve(s.ctx, conn, conn)
}

// endpoint returns the one that a client names: "NAME TOKEN".
func (s *sockets) endpoint(hello string, needsToken bool) (*endpoint, error) {
	name, token, _ := strings.Cut(hello, " ")
	s.mu.Lock()
	e := s.ends[name]
	s.mu.Unlock()
	switch {
	case e == nil:
		return nil, errors.New("the session has ended; start the agent again")
	case needsToken && subtle.ConstantTimeCompare([]byte(token), []byte(e.token)) == 0:
		return nil, errNoToken
	}
	return e, nil
}

// enter waits until no other client is in by the same token.
func (e *endpoint) enter(ctx context.Context) error {
	limit := time.NewTimer(turnLimit)
	defer limit.Stop()
	select {
	case e.turn <- struct{}{}:
		return nil
	case <-limit.C:
		return errors.New("another program uses this session's memory tools")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets the next one in. entered is what enter returned.
func (e *endpoint) leave(entered error) {
	if entered == nil {
		<-e.turn
	}
}

// readLine reads a line and nothing behind it.
func readLine(in io.Reader, longest int) (string, error) {
	var line []byte
	for next := make([]byte, 1); len(line) < longest; line = append(line, next[0]) {
		if _, err := io.ReadFull(in, next); err != nil {
			return "", err
		}
		if next[0] == '\n' {
			break
		}
	}
	return string(line), nil
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
