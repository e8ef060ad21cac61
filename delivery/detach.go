package delivery

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// A client that ends a connection may kill all processes below it: acpx does, those in other sessions included
// (docs/facts/acpx.md, "The end of a connection"). So a worker must not be our descendant: the relay starts an
// intermediate process (Detach), which starts the worker and exits.

// A Spawn says how a detached worker is started.
type Spawn struct {
	Args []string // of a program like ours, that the worker runs with
	Dir  string
	Env  []string
	Pass Credential // for the worker, which gets it on its stdin and nowhere else
}

// A Credential is the secret for a daemon, which stands in no row, argument or environment of ours: a worker is given
// one on its stdin. URL is "" for the daemon that it is configured for.
type Credential struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// For is the token for the daemon at a URL; "" where this is not it. What needs another waits for who has that.
func (c Credential) For(url string) string {
	if url != c.URL {
		return ""
	}
	return c.Token
}

// DetachWord, as the first argument, makes our program the intermediate process. It is looked for before the command
// line is parsed, which would take longer than all the rest.
const DetachWord = "--detach"

// Tell starts a program that outlives us and writes text to its stdin. It returns when the program has read it.
func (s Spawn) Tell(text []byte) error {
	stdin, first, err := s.detached(nil)
	if err != nil {
		return err
	}
	err = stdin.SetWriteDeadline(time.Now().Add(tellLimit))
	if err == nil {
		_, err = stdin.Write(text)
	}
	return errors.Join(err, stdin.Close(), first.Wait())
}

// tellLimit is how long the program may take to read the text; on a busy machine it starts late.
const tellLimit = 10 * time.Second

// detached starts the program through an intermediate process, to be waited for, and returns the other end of its
// stdin: a worker begins when that is closed, which the system does if we die. What is short is
// written before there is anybody to read it: if we are killed in between, a worker has its credential.
func (s Spawn) detached(short []byte) (stdin *os.File, first *exec.Cmd, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer read.Close()
	cmd := exec.Command(self, append([]string{DetachWord}, s.Args...)...)
	cmd.Stdin = read // its output is discarded: whoever reads our output waits until nobody has it open
	cmd.Dir, cmd.Env = s.Dir, s.Env
	separate(cmd)
	if _, err = write.Write(short); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		write.Close()
		return nil, nil, err
	}
	return write, cmd, nil
}

// Detach is what the intermediate process does: it starts the worker with its own stdin. The process must exit then.
func Detach(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdin = os.Stdin
	separate(cmd)
	return cmd.Start()
}

const (
	// relayLimit is how long a worker waits for the end of the relay that started it. What a relay owes that lives
	// longer is delivered later.
	relayLimit = 30 * time.Second
	// lockSettle is how long after that a worker waits for the relay's locks: its pipe may be closed before they are
	// free.
	lockSettle    = 100 * time.Millisecond
	maxCredential = 64 << 10 // bytes of a Credential
)

// AwaitRelay reads the credential that a relay left on our stdin, and waits until that relay has ended, at most
// relayLimit.
func AwaitRelay(ctx context.Context, in io.Reader) (Credential, error) {
	var got Credential
	said := bufio.NewReader(io.LimitReader(in, maxCredential))
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
