package doctor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

const initializeRequest = `{"jsonrpc":"2.0","id":"signet-acp-proxy-doctor","method":"initialize",` +
	`"params":{"protocolVersion":1,"clientInfo":{"name":"signet-acp-proxy","version":%s},"clientCapabilities":{}}}` + "\n"

// An introduction is what an agent says of itself in its response to initialize.
type introduction struct {
	ProtocolVersion int `json:"protocolVersion"`
	AgentInfo       struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
}

// initialize starts an agent, sends initialize, and ends the agent. If it does not answer, the error says what came
// instead, and wraps errHangs or errAtWork if it was ended by limit.
func initialize(ctx context.Context, o upstream.Options, limit timeouts) (introduction, error) {
	version, err := json.Marshal(runtime.Version)
	if err != nil {
		return introduction{}, err
	}
	p, err := upstream.Start(o)
	if err != nil {
		return introduction{}, err
	}
	waiting, giveUp := context.WithCancelCause(ctx)
	var waits sync.WaitGroup
	waits.Go(func() { limit.wait(waiting, p.Pid(), giveUp) })
	stop := context.AfterFunc(waiting, func() { p.Terminate(syscall.SIGKILL) })
	agent, err := greet(p, fmt.Sprintf(initializeRequest, version))
	givenUp := context.Cause(waiting)
	stop()
	giveUp(nil)
	waits.Wait()
	p.Terminate(syscall.SIGTERM)
	ended := p.Wait()
	switch last := p.LastStderr(); {
	case err == nil:
	case givenUp != nil && errors.Is(err, errSilent):
		err = givenUp
	case givenUp != nil:
		err = fmt.Errorf("%w: %w", givenUp, err)
	case len(last) > 0:
		err = fmt.Errorf("%w (%s; its last words: %s)", err, ended, last[len(last)-1])
	}
	return agent, err
}

var errSilent = errors.New("it ended without a word")

// greet sends initialize and reads up to its response.
func greet(p *upstream.Process, request string) (introduction, error) {
	_, unread := p.Stdin.Write([]byte(request))
	lines := bufio.NewScanner(p.Stdout)
	lines.Buffer(nil, 1<<20)
	noise := ""
	for lines.Scan() {
		var reply struct {
			ID     any             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(lines.Bytes(), &reply) != nil || reply.ID != "signet-acp-proxy-doctor" {
			if noise == "" {
				noise = term.Cut(term.Printable(lines.Text()), 60)
			}
			continue
		}
		if reply.Error != nil {
			return introduction{}, fmt.Errorf("it refuses: %s", term.Cut(term.Printable(reply.Error.Message), 200))
		}
		var agent introduction
		if json.Unmarshal(reply.Result, &agent) != nil || agent.ProtocolVersion == 0 {
			return introduction{}, errors.New("its answer to initialize names no protocolVersion")
		}
		return agent, nil
	}
	if noise != "" {
		return introduction{}, fmt.Errorf("it says %q", noise)
	}
	if unread != nil {
		return introduction{}, errors.New("it closed its stdin")
	}
	return introduction{}, errSilent
}
