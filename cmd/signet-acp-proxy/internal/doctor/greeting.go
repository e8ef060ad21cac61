package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// initialize starts an agent, sends initialize, and ends the agent. If it does not answer, the error says what came
// instead, and wraps errHangs or errAtWork if it was ended by limit.
func initialize(ctx context.Context, o upstream.Options, limit timeouts) (acpclient.Agent, error) {
	p, err := upstream.Start(o)
	if err != nil {
		return acpclient.Agent{}, err
	}
	waiting, giveUp := context.WithCancelCause(ctx)
	var waits sync.WaitGroup
	waits.Go(func() { limit.wait(waiting, p.Pid(), giveUp) })
	stop := context.AfterFunc(waiting, func() { p.Terminate(syscall.SIGKILL) })
	agent, err := greet(waiting, p)
	givenUp := context.Cause(waiting)
	stop()
	giveUp(nil)
	waits.Wait()
	ended := p.Wait()
	switch last := p.LastStderr(); {
	case err == nil:
	case givenUp != nil && errors.Is(err, errSilent):
		err = givenUp
	case givenUp != nil:
		err = fmt.Errorf("%w: %w", givenUp, err)
	case len(last) > 0:
		err = fmt.Errorf("%w (%s; its last line: %s)", err, ended, last[len(last)-1])
	}
	return agent, err
}

var errSilent = errors.New("it ended without any output")

// greet sends initialize, and waits for its response or the agent's end.
func greet(ctx context.Context, p *upstream.Process) (agent acpclient.Agent, err error) {
	conn := acpclient.New(p.Stdin, silent{})
	read := make(chan struct{})
	guard.Go("greeting", func() {
		defer close(read)
		conn.Read(p.Stdout)
	})
	defer func() {
		p.Terminate(syscall.SIGTERM)
		<-read
		conn.WaitWrites()
	}()
	agent, err = conn.Initialize(ctx, runtime.Version)
	refused := (*acpclient.Error)(nil)
	switch {
	case err == nil && agent.ProtocolVersion != 0:
		return agent, nil
	case errors.As(err, &refused):
		return agent, fmt.Errorf("it refuses: %s", term.Cut(chars.Printable(refused.Message), 200))
	case !errors.Is(err, acpclient.ErrEnded) && ctx.Err() == nil:
		return agent, errors.New("its answer to initialize names no protocolVersion")
	}
	<-read // it may have said why
	switch noise := conn.Noise(); {
	case noise != "":
		return agent, fmt.Errorf("it says %q", term.Cut(chars.Printable(noise), 60))
	case errors.Is(err, acpclient.ErrUnread):
		return agent, errors.New("it closed its stdin")
	}
	return agent, errSilent
}

// silent hears nothing and allows nothing.
type silent struct{}

func (silent) Update(acpclient.Update)                       {}
func (silent) Allow(_ acpclient.ToolCall, answer func(bool)) { answer(false) }
