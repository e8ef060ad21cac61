package delivery

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"
)

// One detached worker serves a database: who holds the lock. Another hands what it was told to that one, over a
// socket beside the lock, and ends. A worker that a person runs needs neither: leases keep the two apart.

const (
	lockName   = "worker.lock"
	socketName = "worker.sock"
	// partLimit is how long a worker waits for the relay that started it; what is owed by one that lives on is left
	// to it.
	partLimit = 30 * time.Second
	// partSettle is for the locks of a relay that was killed: its pipe may end before they do.
	partSettle = 100 * time.Millisecond
	// handLimit is how long a worker tries to become the one, or to reach it.
	handLimit = 5 * time.Second
	handPause = 50 * time.Millisecond
	mostTold  = 64 << 10 // bytes of Credentials
)

// Credentials are what workers were told. Its methods may be called from several goroutines.
type Credentials struct {
	mu     sync.Mutex
	tokens map[string]string
}

// Add keeps a credential. One without a token takes none away.
func (c *Credentials) Add(got Credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if got.Token == "" {
		return
	}
	if c.tokens == nil {
		c.tokens = make(map[string]string)
	}
	c.tokens[got.URL] = got.Token
}

// Token is the secret for the daemon at a url that a relay was configured for; "" if nobody brought one.
func (c *Credentials) Token(url string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens[url]
}

// all are the credentials that are known.
func (c *Credentials) all() []Credential {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Credential{}
	for url, token := range c.tokens {
		all = append(all, Credential{url, token})
	}
	return all
}

// Parted reads what a relay left on our stdin, and waits until that relay has gone.
func Parted(ctx context.Context, in io.Reader) (Credential, error) {
	var got Credential
	said := bufio.NewReader(io.LimitReader(in, mostTold))
	line, err := said.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &got)
	}
	if err != nil {
		return got, fmt.Errorf("reading what the relay left: %w", err)
	}
	gone := make(chan struct{})
	go func() { // ends with the relay, or with us
		defer close(gone)
		_, _ = io.Copy(io.Discard, said)
	}()
	select {
	case <-gone:
	case <-time.After(partLimit):
	case <-ctx.Done():
	}
	time.Sleep(partSettle)
	return got, nil
}

// RunSingle runs a detached worker, unless one runs already for the database in the folder dir: that is told what we
// know. work delivers until it is quiet, and looks again when wake says so.
func RunSingle(ctx context.Context, dir string, known *Credentials, log zerolog.Logger,
	work func(wake <-chan struct{}) error) error {
	for {
		s, err := claim(ctx, dir, known, log)
		if s == nil || err != nil {
			return err
		}
		err = work(s.wake)
		again := s.close()
		if err != nil || !again || ctx.Err() != nil {
			return err
		}
	}
}

// A single is the right to be the one worker, and the ear of that one.
type single struct {
	lock   *flock.Flock
	listen net.Listener
	known  *Credentials
	wake   chan struct{} // 1-buffered
	tasks  sync.WaitGroup
	log    zerolog.Logger
}

// claim makes us the one worker; nil when another is, and has heard what we know.
func claim(ctx context.Context, dir string, known *Credentials, log zerolog.Logger) (*single, error) {
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	socket := socketPath(dir)
	ctx, cancel := context.WithTimeout(ctx, handLimit)
	defer cancel()
	for {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", lock.Path(), err)
		}
		if locked {
			s := &single{lock: lock, known: known, wake: make(chan struct{}, 1), log: log}
			s.serve(socket)
			return s, nil
		}
		if tell(socket, known.all()) == nil {
			log.Info().Msg("another worker delivers: told it what there is")
			return nil, nil
		}
		select { // it ends, or does not listen yet
		case <-time.After(handPause):
		case <-ctx.Done():
			return nil, nil // what is owed keeps, and comes due again
		}
	}
}

// serve hears other workers, where the system has sockets.
func (s *single) serve(socket string) {
	_ = os.Remove(socket) // a dead worker's, for we hold the lock
	l, err := net.Listen("unix", socket)
	if err != nil {
		s.log.Warn().Err(err).Msg("other workers cannot reach this one")
		return
	}
	if err := os.Chmod(socket, 0o600); err != nil { // its folder is ours alone as it is
		s.log.Warn().Err(err).Msg("closing the worker's socket to others")
	}
	s.listen = l
	s.tasks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.hear(conn)
		}
	})
}

// hear takes what another worker was told, and says so when it stands.
func (s *single) hear(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(handLimit/2)) != nil {
		return
	}
	var got []Credential
	if json.NewDecoder(io.LimitReader(conn, mostTold)).Decode(&got) != nil {
		return
	}
	for _, c := range got {
		s.known.Add(c)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	_, _ = io.WriteString(conn, heard)
}

const heard = "heard\n"

// tell tells the one worker what we know.
func tell(socket string, known []Credential) error {
	conn, err := net.DialTimeout("unix", socket, handLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(handLimit)); err != nil {
		return err
	}
	if err := json.NewEncoder(conn).Encode(known); err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, int64(len(heard))))
	if err == nil && string(answer) != heard {
		err = errors.New("the worker did not hear")
	}
	return err
}

// close gives the right up, and reports whether somebody was heard whom nobody has heeded.
func (s *single) close() (again bool) {
	if s.listen != nil {
		s.listen.Close()
	}
	s.tasks.Wait()
	if err := s.lock.Unlock(); err != nil {
		s.log.Warn().Err(err).Msg("giving up the worker's lock")
	}
	select {
	case <-s.wake:
		return true
	default:
		return false
	}
}

// socketPath is the shorter of a socket's two names: a system takes about a hundred bytes, and a worker is started in
// its database's folder.
func socketPath(dir string) string {
	path := filepath.Join(dir, socketName)
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if near, err := filepath.Rel(here, path); err == nil && len(near) < len(path) {
		return near
	}
	return path
}
