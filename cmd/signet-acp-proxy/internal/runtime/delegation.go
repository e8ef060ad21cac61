package runtime

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// errNoDelegation says that delegation is switched off.
var errNoDelegation = errors.New("delegation is off: set delegation: on in the acp: section of agent.yaml")

// The command line of a runner: DelegateWord RunFlag ID, with the task on its stdin.
const (
	delegateWord = "delegate"
	RunFlag      = "--run"
)

// extraTools are the tools by which the agents of a process ask others, leave them messages and hand over to them.
func extraTools(
	c *config.Config, log *logFile, harness, process string, db func(context.Context) (*sql.DB, error),
) []mcpserver.Extra {
	service := func(ctx context.Context) (*delegation.Service, error) {
		db, err := db(ctx)
		if err != nil {
			return nil, err
		}
		return newDelegationService(c, db), nil
	}
	inside := delegation.Inside(os.Getenv)
	caller := func(who memory.Session) delegation.Caller {
		return delegation.Caller{Key: who.Key, Process: process, Harness: config.Canonical(harness), Cwd: who.Cwd,
			Project: who.Project, Inside: inside}
	}
	if inside != "" { // messages and handoffs are for sessions of the user's
		if !c.Delegation || delegation.AtDepthLimit(os.Getenv) {
			return nil
		}
		return delegation.ChildTools(service, caller)
	}
	tools := []mcpserver.Extra{handoffTool(c, log, db)}
	if c.Memory != "daemon" {
		tools = append(tools, delegation.MessageTools(service, func(who memory.Session) []string {
			return namesOf(who.Harness, harness)
		})...)
	}
	if c.Delegation {
		tools = append(tools, delegation.Tools(service, caller)...)
	}
	return tools
}

// ExtraTools are these tools for a server without a relay. The second result must be called at its end.
func ExtraTools(
	c *config.Config, log *logFile, harness string, db func(context.Context) (*sql.DB, error),
) ([]mcpserver.Extra, func(), error) {
	if !c.Delegation {
		return extraTools(c, log, harness, "", db), func() {}, nil
	}
	lock, err := correlation.TakeLock(c.LiveDir(), correlation.NewProcessID())
	if err != nil {
		return nil, nil, err
	}
	return extraTools(c, log, harness, lock.ID(), db), func() { _ = lock.Release() }, nil
}

// newDelegationService makes the delegation service on a database.
func newDelegationService(c *config.Config, db *sql.DB) *delegation.Service {
	return &delegation.Service{
		Ledger: Ledger(c, db), Canonical: config.Canonical,
		Unbounded: c.Unbounded,
		Known:     func(ctx context.Context) ([]delegation.Agent, error) { return knownAgents(ctx, c, db) },
		Start: func(d delegation.Delegation, task string) error {
			return delivery.Spawn{Args: append([]string{delegateWord, RunFlag, d.ID}, ownFlags(c)...),
				Dir: c.Dir()}.Tell([]byte(task))
		},
	}
}

// knownAgents lists the harnesses that are known here.
func knownAgents(ctx context.Context, c *config.Config, db *sql.DB) ([]delegation.Agent, error) {
	sessions, err := correlation.New(db, correlation.Options{LiveDir: c.LiveDir()}).Book().Sessions(ctx, 200)
	if err != nil {
		return nil, err
	}
	var known []delegation.Agent
	for _, name := range c.AgentNames() {
		profile, ok := c.Profile(name)
		if !ok {
			continue
		}
		k := delegation.Agent{ID: name, Title: profile.Title, Capabilities: c.Agent(name).Capabilities,
			Bounds: boundsOf(profile), ByNpx: profile.ByNpx()}
		if err := profile.Prepare(ctx, &upstream.Options{}); err != nil {
			k.Fix = strings.TrimPrefix(err.Error(), upstream.ErrNotStarted.Error()+": ")
		}
		live := func(s correlation.Session) bool { return s.Live && isHarness(s.Harness, name) }
		if i := slices.IndexFunc(sessions, live); i >= 0 {
			k.Session = sessions[i].ACPID
		}
		known = append(known, k)
	}
	return known, nil
}

// RunDelegation is the process of a runner. It reads the task from in.
func RunDelegation(ctx context.Context, c *config.Config, id string, in io.Reader, std term.Streams) error {
	task, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if err != nil {
		return fmt.Errorf("reading the task: %w", err)
	}
	db, err := migrations.Open(ctx, c.DB)
	if err != nil {
		return err
	}
	defer db.Close()
	log := NewLog(c, std)
	defer log.Close()
	runner, err := newRunner(c, db, log)
	if err != nil {
		return err
	}
	return runner.Run(ctx, id, string(task))
}

func newRunner(c *config.Config, db *sql.DB, log *logFile) (delegation.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return delegation.Runner{}, err
	}
	return delegation.Runner{
		Ledger:  Ledger(c, db),
		Command: append([]string{self}, ownFlags(c)...), Version: Version, Granted: c.DelegationAllow,
		Setup: c.DelegationSetup, CheckBy: c.DelegationCheck, Copy: c.DelegationCopy, Disk: int64(c.DelegationDisk),
		Memory: int64(c.DelegationMem), Reads: readable(c), Closed: closedTo(c),
		Ask: c.DelegationAsk, Unbounded: c.Unbounded,
		Bounded: bounds.Check() == nil,
		Log:     log.Logger,
		ReadMode: func(agent string) string {
			profile, _ := c.Profile(agent)
			if profile.Bounded != nil && bounds.Check() == nil {
				return ""
			}
			return profile.ReadMode
		},
		Made: func(d delegation.Delegation, root string) error {
			return os.WriteFile(filepath.Join(root, projectFile), []byte(d.Project), 0o600)
		},
		Ended: func(ctx context.Context, d *delegation.Delegation) {
			d.Brief = delegationResult{c, db, log, *d}.brief(ctx)
			delegationResult{c, db, log, *d}.store(ctx)
		},
	}, nil
}

// A delegationResult is the outcome of a delegation, and where it is stored.
type delegationResult struct {
	c   *config.Config
	db  *sql.DB
	log *logFile
	d   delegation.Delegation
}

// brief is what the child's conversation leaves to the caller, beside its answer and its changes.
func (r delegationResult) brief(ctx context.Context) string {
	store := NewSessions(r.c, r.db, r.log)
	session, err := store.Book().Worker(ctx, r.d.ACPID, r.d.Key)
	if err == nil {
		var b memory.Brief
		if b, err = briefOf(ctx, store, session); err == nil {
			return b.Outcome()
		}
	}
	log := r.log.Logger
	log.Info().Err(err).Str("delegation", r.d.ID).Msg("its conversation has no summary")
	return ""
}

// daemonTime is how long the daemon may take for a result: the caller waits for it.
const daemonTime = 2 * time.Second

// store stores the result as a memory of the caller's side, and sends it to the caller's session if that does not wait.
// The child's side has its own conversation.
func (r delegationResult) store(ctx context.Context) {
	log := r.log.Logger
	var daemon *signet.Client
	if r.c.Memory == "auto" || r.c.Memory == "daemon" {
		var err error
		if daemon, err = NewDaemon(r.c, config.Token(), log); err != nil {
			log.Warn().Err(err).Str("delegation", r.d.ID).Msg("telling the daemon of a result")
		} else {
			defer daemon.Close()
		}
	}
	at, cancel := context.WithTimeout(ctx, daemonTime)
	defer cancel()
	if r.d.Detach && r.d.Key != "" && r.d.Inside == "" {
		if err := r.sendToCaller(ctx, at, daemon); err != nil {
			log.Warn().Err(err).Str("delegation", r.d.ID).Msg("leaving a result")
		}
	}
	if err := r.remember(ctx, at, daemon); err != nil {
		log.Warn().Err(err).Str("delegation", r.d.ID).Msg("remembering a result")
	}
}

// sendToCaller sends the result to the session that asked: for its next prompt and, with a daemon, to its inbox, under
// one id, so that it is told once.
func (r delegationResult) sendToCaller(ctx, at context.Context, daemon *signet.Client) error {
	text := fmt.Sprintf("Delegation %s is %s. %s\n%s", r.d.ID, r.d.State, r.d.Reason, chars.Cut(r.d.Answer, 2<<10))
	if r.d.Check != nil {
		text += fmt.Sprintf("\nChecked: %s\n%s", r.d.Check, chars.Cut(r.d.Check.Last, 1<<10))
	}
	if r.d.Brief != "" {
		text += "\n" + r.d.Brief
	}
	m := delegation.Message{To: r.d.Harness, From: r.d.Agent, Session: r.d.Key, Recipient: r.d.Key,
		Project: r.d.Project, Text: text, Delegation: r.d.ID}
	if daemon != nil {
		m.ID, _ = daemon.Send(at, m.From, m.Recipient, m.Text) // without it ours is told
	}
	_, err := Ledger(r.c, r.db).Send(ctx, m)
	return err
}

func (r delegationResult) remember(ctx, at context.Context, daemon *signet.Client) error {
	if r.d.State != delegation.Done || r.d.Answer == "" {
		return nil
	}
	text := fmt.Sprintf("%s was asked (%s, delegation %s): %s\nIt answered: %s", r.d.Agent, r.d.Mode, r.d.ID,
		chars.Cut(r.d.Task, 400), chars.Cut(r.d.Answer, 1200))
	if r.d.Branch != "" {
		text += fmt.Sprintf("\nIts changes are on the branch %s: %s", r.d.Branch,
			chars.Cut(strings.Join(r.d.Paths, ", "), 400))
	}
	tags := "delegation," + r.d.Agent
	stored, _, err := NewStore(r.c, r.db, r.log).Add(ctx, embedded.Memory{Content: text, Type: "delegation",
		Project: r.d.Project, Who: memory.Agent, Harness: r.d.Harness, Session: r.d.Key, Turn: r.d.Turn,
		Source: "delegation", Tags: tags})
	if err == nil && daemon != nil {
		_, _ = daemon.Remember(at, signet.Note{Content: stored.Content, Tags: tags}) // the embedded store has it anyway
	}
	return err
}
