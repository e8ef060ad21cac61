package runtime

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// errNothingSaid says that nothing was said in a session.
var errNothingSaid = errors.New("it has no turns to hand over")

// A handoff is a session that the next session of another agent continues.
type handoff struct {
	Session correlation.Session
	To      string     // the agent
	acpx    [][]string // command lines that begin that session; nil where no command of the agent is known
}

// continuePrompt is the other agent's first prompt.
const continuePrompt = "Go on where we were."

// leaveTo stores that the next session of an agent continues this one.
func leaveTo(
	ctx context.Context, c *config.Config, store *correlation.Store, s correlation.Session, to string,
) (handoff, error) {
	to = config.Canonical(to)
	if to == "" {
		return handoff{}, errors.New("name the agent that continues")
	}
	if _, known := c.Profile(to); !known {
		recorded, err := store.Book().Harnesses(ctx)
		if err != nil {
			return handoff{}, err
		}
		if !slices.ContainsFunc(recorded, func(name string) bool { return config.Canonical(name) == to }) {
			return handoff{}, config.UnknownAgent(to, c.AgentNames())
		}
	}
	if memory.Excluded(s.Cwd, c.Exclude) {
		return handoff{}, fmt.Errorf("%s is excluded from memory (.signet-ignore or exclude)", s.Cwd)
	}
	brief, err := briefOf(ctx, store, s.ID)
	if err == nil && brief.Text() == "" {
		err = errNothingSaid
	}
	if err == nil {
		err = store.Handoff(ctx, s.ID, to)
	}
	return handoff{s, to, viaAcpx(c, s.Cwd, to)}, err
}

// handoff does so for the session that a person names.
func (d *Data) Handoff(ctx context.Context, id, to string) (handoff, error) {
	s, err := d.Resolve(ctx, id)
	if err != nil {
		return handoff{}, err
	}
	return leaveTo(ctx, d.Config, d.Sessions, s, to)
}

// viaAcpx returns the command lines by which acpx begins a session of an agent in a folder and prompts it: by the name
// that acpx has for the agent, else by a command of ours.
func viaAcpx(c *config.Config, cwd, to string) [][]string {
	acpx := []string{"acpx"}
	if !clients.OnPath("acpx") {
		acpx = []string{"npx", "-y", "acpx@latest"}
	}
	acpx = append(acpx, "--cwd", cwd)
	if name := acpxName(to); name != "" {
		acpx = append(acpx, name)
	} else if _, known := c.Profile(to); known {
		acpx = append(acpx, "--agent", shellLine(clients.Command(c, to)))
	} else {
		return nil
	}
	return [][]string{
		slices.Concat(acpx, []string{"sessions", "new"}),
		slices.Concat(acpx, []string{"prompt", continuePrompt}),
	}
}

// acpxName returns acpx's name for an agent that it starts through us, "" if it does not.
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

// Command is the shell's command line that begins the other session.
func (h handoff) Command() string {
	if h.acpx == nil {
		return shellLine([]string{"signet-acp-proxy", "--agent", h.To, "--", "COMMAND"})
	}
	return shellLine(h.acpx[0]) + " && " + shellLine(h.acpx[1])
}

// Run begins the other session through acpx.
func (h handoff) Run(ctx context.Context, std term.Streams) error {
	if h.acpx == nil {
		return fmt.Errorf("no command is known for %s: start its session in your client", h.To)
	}
	if !clients.OnPath("acpx") {
		return errors.New("acpx is not installed: npm install -g acpx@latest, or start the session in your client")
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

// shellLine quotes a command line for a shell.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = chars.ShellWord(word)
		if word != chars.Printable(word) { // a terminal would act on it
			escaped := strconv.QuoteToASCII(word)
			quoted[i] = "$'" + strings.ReplaceAll(escaped[1:len(escaped)-1], "'", `\'`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// handoffTool is the tool by which an agent hands its own session over to another agent. open returns the database, and
// may wait until it is current.
func handoffTool(c *config.Config, log *logFile, open func(context.Context) (*sql.DB, error)) mcpserver.Extra {
	closed := false
	return mcpserver.Extra{
		Tool: &mcp.Tool{
			Name: "session_handoff",
			Description: "Hand this conversation over to another agent: its next session in this project, within " +
				"an hour, starts with the end of this one. Returns the command that starts it; does not start it.",
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
			store := NewSessions(c, db, log)
			s, err := store.Book().FindByKey(ctx, who.Key)
			if errors.Is(err, correlation.ErrNotFound) {
				return nil, errors.New("this session is not saved here; " +
					"signet-acp-proxy handoff SESSION does it for any that is")
			}
			if err != nil {
				return nil, err
			}
			h, err := leaveTo(ctx, c, store, s, given.To)
			if err != nil {
				return nil, err
			}
			return map[string]any{"session": s.ACPID, "to": h.To, "command": h.Command()}, nil
		},
	}
}

const (
	briefTurns = 100                    // that are read, the last of a conversation and its first
	gitLimit   = 150 * time.Millisecond // to say which files are committed: a prompt waits meanwhile
)

// continuedBy returns the brief of the conversation that a session continues. names are those of its agent.
func continuedBy(
	ctx context.Context, c *config.Config, store *correlation.Store, session int64, names []string,
) (string, error) {
	before, handed, err := store.Continued(ctx, session, names)
	if err != nil || before == 0 || !handed && !c.Continue {
		return "", err
	}
	b, err := briefOf(ctx, store, before)
	return b.Text(), err
}

// briefOf returns the brief of a session.
func briefOf(ctx context.Context, store *correlation.Store, session int64) (b memory.Brief, err error) {
	turns, err := store.Book().LastTurns(ctx, session, briefTurns)
	if err != nil || len(turns) == 0 {
		return b, err
	}
	rounds := embedded.Rounds(turns)
	for i := range rounds {
		rounds[i].Agent = HarnessName(rounds[i].Agent)
	}
	b = memory.BriefOf(rounds)
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	b.Committed = worktree.Committed(ctx, turns[len(turns)-1].Cwd, b.Changed)
	return b, nil
}

// namesOf returns the names under which an agent may be handed something: its own, the one that it was started as, and
// its profile's.
func namesOf(agent, started string) []string {
	names := []string{config.Canonical(started), strings.ToLower(agent)}
	if p, known := upstream.Lookup(agent, started); known {
		names = append(names, p.Name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
