package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// A Hook is the command that a person wants run after a session.
type Hook struct {
	Command []string      // and its arguments; empty: none
	Limit   time.Duration // zero: 1 min
}

const (
	hookLimit  = time.Minute
	hookOutput = 2 << 10         // bytes of its output that are kept
	hookDrain  = 2 * time.Second // for what it started and left with its output
)

// renewEvery is well inside correlation.LeaseTime. Tests have less time.
var renewEvery = time.Minute

// An Ended is what a hook reads on its standard input: one JSON object. The names are a promise.
type Ended struct {
	AcpxSessionID    string    `json:"acpxSessionId"` // the harness's session id
	AcpxRecordID     string    `json:"acpxRecordId"`
	SignetSessionKey string    `json:"signetSessionKey"`
	Harness          string    `json:"harness"`
	Cwd              string    `json:"cwd"`
	Project          string    `json:"project"`
	TranscriptPath   string    `json:"transcriptPath"` // there while the hook runs
	Started          time.Time `json:"started"`
	Ended            time.Time `json:"ended"`
	Turns            int       `json:"turns"` // in the transcript
	Reason           string    `json:"reason"`
}

func (h Hook) limit() time.Duration {
	if h.Limit == 0 {
		return hookLimit
	}
	return h.Limit
}

// run runs the command and gives what it printed. The error, if any, ends in that too.
func (h Hook) run(ctx context.Context, in Ended, renew func() error) (string, error) {
	limit := h.limit()
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	late := fmt.Errorf("ended after its limit of %v", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	stdin, err := asFile(in)
	if err != nil {
		return "", fmt.Errorf("on_session_end: %w", err)
	}
	defer discard(stdin)
	output := &tail{}
	cmd := exec.CommandContext(ctx, h.Command[0], h.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, output, output
	cmd.WaitDelay = hookDrain
	if info, err := os.Stat(in.Cwd); err == nil && info.IsDir() {
		cmd.Dir = in.Cwd
	}
	inOwnGroup(cmd)
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("on_session_end: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if errors.Is(err, exec.ErrWaitDelay) { // it went well, and what it started goes on
				err = nil
			}
			if cause := context.Cause(ctx); err != nil && cause != nil {
				if err = cause; err != late {
					err = fmt.Errorf("ended with its worker: %w", cause)
				}
			}
			if err != nil {
				return "", fmt.Errorf("on_session_end: %w: %s", err, output)
			}
			return output.String(), nil
		case <-tick.C:
			if err := renew(); err != nil {
				lose(err)
			}
		}
	}
}

// asFile gives what a hook reads: a file, for a hook may not read it at all, and a pipe would break then.
func asFile(in Ended) (*os.File, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "signet-acp-hook-")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		discard(f)
		return nil, err
	}
	_ = os.Remove(f.Name()) // its descriptor is enough, where the system lets it go
	return f, nil
}

func discard(f *os.File) {
	f.Close()
	_ = os.Remove(f.Name())
}

// A tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - hookOutput; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// String is what was kept, without secrets: it is shown to people and stands in the database.
func (t *tail) String() string {
	return privacy.Redact(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "")))
}
