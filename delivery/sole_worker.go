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

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// One detached worker serves a database: the one that holds the lock. Any other hands its credentials to that one, over
// a socket beside the lock, and ends. A worker that a person runs needs no lock: leases keep it apart from the other.

const (
	lockName   = "worker.lock"
	socketName = "worker.sock"
	// relayLimit is how long a worker waits for the end of the relay that started it. What a relay owes that lives
	// longer is delivered later.
	relayLimit = 30 * time.Second
	// lockSettle is how long after that a worker waits for the relay's locks: its pipe may be closed before they are
	// free.
	lockSettle = 100 * time.Millisecond
	// claimLimit is how long a worker tries to take the lock, or to reach its holder.
	claimLimit     = 5 * time.Second
	claimPause     = 50 * time.Millisecond
	maxCredentials = 64 << 10 // bytes of Credentials
)

// Credentials are what workers were given by relays. Its methods may be called from several goroutines.
type Credentials struct {
	mu     sync.Mutex
	tokens map[string]string
}

// Add keeps a credential. One without a token does not replace another.
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

// Token is the secret for the daemon at a URL that a relay was configured for; "" if no relay gave one.
func (c *Credentials) Token(url string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens[url]
}

// all returns the credentials that are known.
func (c *Credentials) all() []Credential {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Credential{}
	for url, token := range c.tokens {
		all = append(all, Credential{url, token})
	}
	return all
}

// AwaitRelay reads the credential that a relay left on our stdin, and waits until that relay has ended, at most
// relayLimit.
func AwaitRelay(ctx context.Context, in io.Reader) (Credential, error) {
	var got Credential
	said := bufio.NewReader(io.LimitReader(in, maxCredentials))
	line, err := said.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &got)
	}
	if err != nil {
		return got, fmt.Errorf("reading what the relay left: %w", err)
	}
	gone := make(chan struct{})
	guard.Go("relay's end", func() { // ends with the relay, or with us
		defer close(gone)
		_, _ = io.Copy(io.Discard, said)
	})
	select {
	case <-gone:
	case <-time.After(relayLimit):
	case <-ctx.Done():
	}
	time.Sleep(lockSettle)
	return got, nil
}

// RunSingle runs a detached worker, unless one runs already for the database in the folder dir: then that one is given
// known. work delivers until nothing is due, and looks again when wake says so.
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

// A soleWorker is the right to be the one worker, and the socket at which others hand it their credentials.
type soleWorker struct {
	lock   *flock.Flock
	listen net.Listener
	known  *Credentials
	wake   chan struct{} // 1-buffered
	tasks  guard.Group
	log    zerolog.Logger
}

// claim makes us the sole worker; it returns nil when another is, and has our credentials.
func claim(ctx context.Context, dir string, known *Credentials, log zerolog.Logger) (*soleWorker, error) {
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	socket := socketPath(dir)
	ctx, cancel := context.WithTimeout(ctx, claimLimit)
	defer cancel()
	for {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", lock.Path(), err)
		}
		if locked {
			s := &soleWorker{lock: lock, known: known, wake: make(chan struct{}, 1), log: log}
			s.serve(socket)
			return s, nil
		}
		if sendCredentials(socket, known.all()) == nil {
			log.Info().Msg("another worker delivers: told it what there is")
			return nil, nil
		}
		select { // it ends, or does not listen yet
		case <-time.After(claimPause):
		case <-ctx.Done():
			return nil, nil // what is owed is kept, and becomes due again
		}
	}
}

// serve listens for other workers, where the system has Unix sockets.
func (s *soleWorker) serve(socket string) {
	_ = os.Remove(socket) // a dead worker's, for we hold the lock
	l, err := net.Listen("unix", socket)
	if err != nil {
		s.log.Warn().Err(err).Msg("other workers cannot reach this one")
		return
	}
	if err := os.Chmod(socket, 0o600); err != nil { // its folder is closed to others anyway
		s.log.Warn().Err(err).Msg("closing the worker's socket to others")
	}
	s.listen = l
	s.tasks.Go("other workers", func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.receive(conn)
		}
	})
}

// receive takes the credentials of another worker, and acknowledges them.
func (s *soleWorker) receive(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(claimLimit/2)) != nil {
		return
	}
	var got []Credential
	if json.NewDecoder(io.LimitReader(conn, maxCredentials)).Decode(&got) != nil {
		return
	}
	for _, c := range got {
		s.known.Add(c)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	_, _ = io.WriteString(conn, acknowledgement)
}

const acknowledgement = "heard\n"

// sendCredentials hands our credentials to the sole worker.
func sendCredentials(socket string, known []Credential) error {
	conn, err := net.DialTimeout("unix", socket, claimLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(claimLimit)); err != nil {
		return err
	}
	if err := json.NewEncoder(conn).Encode(known); err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, int64(len(acknowledgement))))
	if err == nil && string(answer) != acknowledgement {
		err = errors.New("the worker did not hear")
	}
	return err
}

// close returns the right up, and reports whether another worker handed over credentials that nobody has acted on.
func (s *soleWorker) close() (again bool) {
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

// socketPath returns the shorter one of the socket's absolute and relative paths: systems take about a hundred bytes,
// and a worker is started in its database's folder.
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
