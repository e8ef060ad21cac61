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

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

const (
	hookLimit  = 5 * time.Minute
	hookOutput = 2 << 10         // bytes of its output that are kept
	hookDrain  = 2 * time.Second // how long its output may stay open after its end, in processes that it started
)

// A hookInput is what a hook reads on its standard input: one JSON object. The names are a promise.
type hookInput struct {
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
	// Notes are what the session's agent noted later, as memory list --json has them; the transcript is empty then.
	Notes json.RawMessage `json:"notes,omitempty"`
}

// runHook runs on_session_end for a session's turns that it was not run for: the command that the delivery carries,
// else the configured one. If it fails it is run again later, like a post.
func (a *attempt) runHook(ctx context.Context, command []string) (string, error) {
	if len(a.d.HookCommand) > 0 {
		command = a.d.HookCommand
	}
	if len(command) == 0 {
		return "dropped", a.store.Dropped(ctx, a.d, correlation.Selection{}, "",
			"on_session_end is not configured any more")
	}
	post, err := a.store.Select(ctx, a.d)
	if err != nil {
		return "", err
	}
	p := part{join(transcript(post, 0)), post}
	in := hookInput{
		AcpxSessionID: a.session.ACPID, AcpxRecordID: a.session.Record, SignetSessionKey: a.d.Key,
		Harness: a.session.Harness, Cwd: a.session.Cwd,
		Project: a.session.Project, Started: a.session.Started.UTC(), Ended: a.session.LastActive.UTC(),
		Turns: len(post.Turns), Reason: a.d.Reason,
	}
	switch {
	case a.d.Payload != "":
		in.Notes = json.RawMessage(a.d.Payload)
	case p.text == "":
		return "no text", a.store.Delivered(ctx, a.d, p.post, "no text")
	default:
		in.Ended = post.Turns[len(post.Turns)-1].Ended.UTC()
	}
	reply, err := a.withFile(ctx, p, func(file string) (Reply, error) {
		in.TranscriptPath = file
		output, err := runCommand(ctx, command, hookLimit, in)
		return Reply{Note: output}, err
	})
	return a.conclude(ctx, nil, p.post, reply, err)
}

// runCommand runs a command and returns the end of what it printed, which an error includes.
func runCommand(ctx context.Context, command []string, limit time.Duration, in hookInput) (string, error) {
	late := fmt.Errorf("ended after its limit of %v", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	stdin, err := asFile(in)
	if err != nil {
		return "", fmt.Errorf("on_session_end: %w", err)
	}
	defer discard(stdin)
	output := &chars.Excerpt{MaxTail: hookOutput}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, output, output
	cmd.WaitDelay = hookDrain
	if info, err := os.Stat(in.Cwd); err == nil && info.IsDir() {
		cmd.Dir = in.Cwd
	}
	inOwnGroup(cmd)
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it succeeded, and processes that it started go on
		err = nil
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		if err = cause; err != late {
			err = fmt.Errorf("ended with its worker: %w", cause)
		}
	}
	if err != nil {
		return "", fmt.Errorf("on_session_end: %w: %s", err, printed(output))
	}
	return printed(output), nil
}

// asFile returns the hook's input as a file: a hook may not read it, and writing to a pipe would then fail.
func asFile(in hookInput) (*os.File, error) {
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
	_ = os.Remove(f.Name()) // where the system can remove an open file, nobody else needs the name
	return f, nil
}

func discard(f *os.File) {
	f.Close()
	_ = os.Remove(f.Name())
}

// printed is what was kept of a hook's output, without secrets, because it is stored and shown to people.
func printed(output *chars.Excerpt) string {
	return privacy.Redact(strings.TrimSpace(strings.ToValidUTF8(string(output.Tail), "")))
}
