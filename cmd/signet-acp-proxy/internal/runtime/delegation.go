package runtime

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// errNoDelegation says that delegation is switched off.
var errNoDelegation = errors.New("delegation is off: set delegation: on in the acp: section of agent.yaml")

// The command line of a runner: DelegateWord RunFlag ID, with the task on its stdin.
const (
	DelegateWord = "delegate"
	RunFlag      = "--run"
)

// delegationTools are the tools by which the agents of a process ask others.
func delegationTools(
	c *config.Config, harness, process string, db func(context.Context) (*sql.DB, error),
) []mcpserver.Extra {
	service := func(ctx context.Context) (*delegation.Service, error) {
		db, err := db(ctx)
		if err != nil {
			return nil, err
		}
		return newDelegationService(c, db), nil
	}
	var tools []mcpserver.Extra
	if child := delegation.Inside(os.Getenv) != ""; child || c.Memory != "daemon" {
		tools = delegation.MessageTools(service, func(who memory.Session) []string {
			return namesOf(who.Harness, harness)
		}, child)
	}
	if !c.Delegation || delegation.AtDepthLimit(os.Getenv) {
		return tools
	}
	return append(tools, delegation.Tools(service, func(who memory.Session) delegation.Caller {
		return delegation.Caller{Key: who.Key, Process: process, Harness: config.Canonical(harness), Cwd: who.Cwd,
			Project: who.Project, Inside: delegation.Inside(os.Getenv)}
	})...)
}

// DelegationTools are these tools for a server without a relay. The second result must be called at its end.
func DelegationTools(
	c *config.Config, harness string, db func(context.Context) (*sql.DB, error),
) ([]mcpserver.Extra, func(), error) {
	if !c.Delegation {
		return delegationTools(c, harness, "", db), func() {}, nil
	}
	lock, err := correlation.TakeLock(c.LiveDir(), correlation.NewProcessID())
	if err != nil {
		return nil, nil, err
	}
	return delegationTools(c, harness, lock.ID(), db), func() { _ = lock.Release() }, nil
}

// newDelegationService makes the delegation service on a database.
func newDelegationService(c *config.Config, db *sql.DB) *delegation.Service {
	return &delegation.Service{
		Ledger: delegation.NewLedger(db, c.LiveDir()), Canonical: config.Canonical,
		Unbounded: c.Unbounded, Folders: DelegationFolders(c),
		Known: func(ctx context.Context) ([]delegation.KnownAgent, error) { return knownAgents(ctx, c, db) },
		Start: func(d delegation.Delegation, told delegation.Assignment) error {
			said, err := json.Marshal(told)
			if err != nil {
				return err
			}
			return delivery.Spawn{Args: append([]string{DelegateWord, RunFlag, d.ID}, ownFlags(c)...),
				Dir: c.Dir()}.Tell(said)
		},
	}
}

// ownFlags returns the flags by which another process of ours gets the same configuration.
func ownFlags(c *config.Config) []string {
	flags := flagsBesideDaemon(c)
	if c.Source("daemon_url") == "--daemon-url" {
		flags = append(flags, "--daemon-url", c.DaemonURL)
	}
	return flags
}

// knownAgents lists the harnesses that are known here.
func knownAgents(ctx context.Context, c *config.Config, db *sql.DB) ([]delegation.KnownAgent, error) {
	sessions, err := correlation.New(db, correlation.Options{LiveDir: c.LiveDir()}).Sessions(ctx, 200)
	if err != nil {
		return nil, err
	}
	var known []delegation.KnownAgent
	for _, name := range c.AgentNames() {
		profile, ok := c.Profile(name)
		if !ok {
			continue
		}
		k := delegation.KnownAgent{ID: name, Title: profile.Title, Capabilities: c.Agent(name).Capabilities,
			Bounds: boundsOf(profile)}
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

// DelegationFolders is the folder in which the folders of delegations are made.
func DelegationFolders(c *config.Config) string { return filepath.Join(c.Dir(), "work") }

// delegationAt returns the delegation in whose folder a folder lies, "" for none.
func delegationAt(c *config.Config, cwd string) string {
	rel, err := filepath.Rel(DelegationFolders(c), cwd)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	id, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return id
}

// projectFile is a file beside a delegation's folder with the caller's project.
const projectFile = "project"

// delegatedProject returns the project of a folder; for a delegation's folder it is the caller's.
func delegatedProject(c *config.Config) func(cwd string) string {
	return func(cwd string) string {
		id := delegationAt(c, cwd)
		if id == "" {
			return memory.Project(cwd)
		}
		project, err := os.ReadFile(filepath.Join(DelegationFolders(c), id, projectFile))
		if err != nil {
			return memory.Project(cwd)
		}
		return string(project)
	}
}

// RunDelegation is the process of a runner. It reads its assignment from in.
func RunDelegation(ctx context.Context, c *config.Config, id string, in io.Reader, std term.Streams) error {
	var told delegation.Assignment
	if err := json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&told); err != nil {
		return fmt.Errorf("reading the task: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	db, err := migrations.Open(ctx, c.DB)
	if err != nil {
		return err
	}
	defer db.Close()
	log := NewLog(c, std)
	defer log.Close()
	runner := delegation.Runner{
		Ledger: delegation.NewLedger(db, c.LiveDir()), Folders: DelegationFolders(c),
		Command: append([]string{self}, ownFlags(c)...), Version: Version, Granted: c.DelegationAllow,
		Setup: c.DelegationSetup, Copy: c.DelegationCopy, Disk: int64(c.DelegationDisk), Closed: closedTo(c),
		Ask: c.DelegationAsk, Unbounded: c.Unbounded,
		Bounded: bounds.Check() == nil,
		Log:     log.Logger(),
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
		Ended: func(ctx context.Context, d delegation.Delegation, o delegation.Outcome) {
			delegationResult{c, db, log, d, o}.store(ctx)
		},
	}
	return runner.Run(ctx, id, told)
}
