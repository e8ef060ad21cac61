package runtime

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
)

// ErrNothingSaid is a session that there is nothing to tell of.
var ErrNothingSaid = errors.New("nothing was said in it: there is nothing to hand over")

// A Handoff is a session that waits for the next one of another agent.
type Handoff struct {
	Session correlation.Session
	To      string     // the agent
	acpx    [][]string // the command lines that begin it; nil where no command of the agent's is known
}

// goOn is what the other agent is asked.
const goOn = "Go on where we were."

// handOver leaves a session for the next one of an agent.
func handOver(
	ctx context.Context, c *config.Config, store *correlation.Store, s correlation.Session, to string,
) (Handoff, error) {
	to = config.Canonical(to)
	if to == "" {
		return Handoff{}, errors.New("name the agent that is to go on")
	}
	if memory.OptedOut(s.Cwd, c.Exclude) {
		return Handoff{}, fmt.Errorf("%s is left out of memory (.signet-ignore or exclude)", s.Cwd)
	}
	text, err := earlier(ctx, store, s.ID)
	if err == nil && text == "" {
		err = ErrNothingSaid
	}
	if err == nil {
		err = store.HandOver(ctx, s.ID, to)
	}
	return Handoff{s, to, viaAcpx(c, s.Cwd, to)}, err
}

// HandOver leaves the session that a person names for the next one of an agent.
func (d *Data) HandOver(ctx context.Context, id, to string) (Handoff, error) {
	s, err := d.Sessions.Resolve(ctx, id)
	if err != nil {
		return Handoff{}, err
	}
	return handOver(ctx, d.Config, d.Sessions, s, to)
}

// viaAcpx gives the command lines by which acpx begins a session of an agent in a folder and has it go on: under the
// name that acpx has for it, else by a command of ours.
func viaAcpx(c *config.Config, cwd, to string) [][]string {
	acpx := []string{"acpx"}
	if !clients.OnPath("acpx") {
		acpx = []string{"npx", "-y", "acpx"}
	}
	acpx = append(acpx, "--cwd", cwd)
	if name := acpxName(to); name != "" {
		acpx = append(acpx, name)
	} else if _, known := c.Profile(to); known {
		acpx = append(acpx, "--agent", Shell(clients.Command(c, to)))
	} else {
		return nil
	}
	return [][]string{slices.Concat(acpx, []string{"sessions", "new"}), slices.Concat(acpx, []string{"prompt", goOn})}
}

// acpxName is what acpx calls an agent that it starts through us, "" if it does not.
func acpxName(agent string) string {
	file, err := clients.Open("acpx")
	if err != nil {
		return ""
	}
	entries, err := file.Entries()
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if name, _ := clients.HarnessOf(e.Command); e.Ours() && config.Canonical(name) == agent {
			return e.Name
		}
	}
	return ""
}

// Place is where that one has to be: the project, or the folder of none.
func (h Handoff) Place() string { return cmp.Or(h.Session.Project, h.Session.Cwd) }

// Command is the line for a shell that begins the session that goes on.
func (h Handoff) Command() string {
	if h.acpx == nil {
		return Shell([]string{"signet-acp-proxy", "--agent", h.To, "--", "COMMAND"})
	}
	return Shell(h.acpx[0]) + " && " + Shell(h.acpx[1])
}

// Run begins that session through acpx.
func (h Handoff) Run(ctx context.Context, std term.Streams) error {
	if h.acpx == nil {
		return fmt.Errorf("no command is known for %s: begin its session in your own client", h.To)
	}
	if !clients.OnPath("acpx") {
		return errors.New("acpx is not there to run it: npm install -g acpx, or begin the session in your own client")
	}
	for _, line := range h.acpx {
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = std.In, std.Out, std.Err
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("running acpx: %w", err)
		}
	}
	return nil
}

// Shell is a command line as a shell takes it.
func Shell(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; word == "" || strings.ContainsFunc(word, special) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// special reports whether a shell may give a character a meaning.
func special(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-^", r)
}

// HandoffTool is the tool by which an agent leaves its own session for another one. open gives the database, and may
// wait until it has what was said just now.
func HandoffTool(c *config.Config, log *Log, open func(context.Context) (*sql.DB, error)) mcpserver.Extra {
	closed := false
	return mcpserver.Extra{
		Tool: &mcp.Tool{
			Name: "session_handoff",
			Description: "Leave this conversation for another agent: its next session in this project, within an " +
				"hour, is told how this one ended. Gives the command that begins it; it does not begin it.",
			InputSchema: map[string]any{
				"type": "object", "required": []string{"to"},
				"properties": map[string]any{
					"to": map[string]any{"type": "string", "description": "the agent: " + strings.Join(c.AgentNames(), ", ")},
				},
			},
			Annotations: &mcp.ToolAnnotations{DestructiveHint: &closed, OpenWorldHint: &closed},
		},
		Answer: func(ctx context.Context, who memory.Session, raw json.RawMessage) (any, error) {
			var given struct{ To string }
			if err := json.Unmarshal(raw, &given); err != nil || strings.TrimSpace(given.To) == "" {
				return nil, errors.New("to is missing: session_handoff takes to, the name of an agent")
			}
			db, err := open(ctx)
			if err != nil {
				return nil, err
			}
			store := correlation.New(db, correlation.Options{LiveDir: c.LiveDir(), Log: log.Logger()})
			s, err := store.FindByKey(ctx, who.Key)
			if errors.Is(err, correlation.ErrNotFound) {
				return nil, errors.New("this session is not on record here; signet-acp-proxy handoff SESSION does it " +
					"for any that is")
			}
			if err != nil {
				return nil, err
			}
			h, err := handOver(ctx, c, store, s, given.To)
			if err != nil {
				return nil, err
			}
			return map[string]any{"session": s.ACPID, "to": h.To, "command": h.Command()}, nil
		},
	}
}
