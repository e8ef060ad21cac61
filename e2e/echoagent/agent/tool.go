package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	acp "github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callTool calls the tool and returns what it said.
func (a *agent) callTool(ctx context.Context) (string, error) {
	if len(a.servers) == 0 || a.servers[0].Stdio == nil {
		return "\nI have no tools.\n", nil
	}
	server := a.servers[0].Stdio
	client := mcp.NewClient(&mcp.Implementation{Name: "echoagent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(server.Command, server.Args...)},
		nil)
	if err != nil {
		return "", err
	}
	defer session.Close()
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: a.faults.tool.Name, Arguments: a.faults.tool.Arguments})
	if err != nil {
		return fmt.Sprintf("\nThe tool failed: %v\n", err), nil
	}
	var said strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			said.WriteString(text.Text)
		}
	}
	return fmt.Sprintf("\nThe tool said (error: %v):\n%s\n", r.IsError, said.String()), nil
}

// misbehave does what it is told to do when a request comes.
func (a *agent) misbehave(method string) {
	if a.faults.junk {
		fmt.Fprint(os.Stdout, "no JSON at all\n"+
			"{\"jsonrpc\":\"2.0\",\"id\":\"nobody's\",\"result\":[1]}\n[]\n{\"jsonrpc\":\n\x00\xff\n")
	}
	if a.faults.hang == method {
		select {}
	}
	if a.faults.kill && method == "session/prompt" {
		if parent, err := os.FindProcess(os.Getppid()); err == nil {
			_ = parent.Signal(syscall.SIGKILL)
		}
	}
}

// work is what it does in a turn before it answers.
func (a *agent) work(ctx context.Context, one session, now turn) error {
	if name := a.faults.write; name != "" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(one.Cwd, name)
		}
		if err := os.WriteFile(name, []byte(strings.Join(now.texts(), "\n")), 0o600); err != nil {
			return err
		}
	}
	for i := range a.faults.steps {
		id := acp.ToolCallId(fmt.Sprintf("step-%d", i))
		err := errors.Join(
			a.update(ctx, one.ID, acp.StartToolCall(id, fmt.Sprintf("Step %d", i),
				acp.WithStartKind(acp.ToolKindRead))),
			a.update(ctx, one.ID, acp.UpdateToolCall(id, acp.WithUpdateStatus(acp.ToolCallStatusCompleted))))
		if err != nil || !pause(ctx, a.faults.slow) {
			return err
		}
	}
	for i := range a.faults.flood {
		fmt.Fprintf(os.Stderr, "word %d of a flood\n", i)
		if err := a.update(ctx, one.ID, acp.UpdateAgentMessageText(fmt.Sprintf("word %d ", i))); err != nil {
			return err
		}
	}
	return nil
}
