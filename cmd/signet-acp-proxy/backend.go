package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/proxy"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A backend is what the relay remembers with: database, daemon, log. It is
// opened beside the conversation, so that the harness's start waits for none of it.
type backend struct {
	c   *Config
	std stdio
	log *logFile

	opened chan struct{} // closed when own or failed stands
	own    *embedded.Store
	failed error

	tools *memoryTools // nil when there can be none

	mu         sync.Mutex // guards what follows
	db         *sql.DB
	succession *succession
}

func newBackend(c *Config, std stdio) *backend {
	return &backend{c: c, std: std, log: newLogFile(c, std), opened: make(chan struct{})}
}

// configure makes a relay use the backend.
func (b *backend) configure(o *proxy.Options, name, id string) {
	o.Open = func(ctx context.Context) (*proxy.Backend, error) {
		defer close(b.opened)
		opened, err := b.open(ctx, name, id)
		b.failed = err
		return opened, err
	}
	tools, err := newMemoryTools(b.c, name, b.log, b.store)
	if err != nil {
		b.std.say("no memory tools: %v", err)
	} else {
		b.tools = tools
		o.MCPServer = tools.entry
	}
	o.HoldLimit, o.ClaimLimit, o.ContextAge = b.c.Hold, min(b.c.DatabaseWait, b.c.Hold), b.c.ContextAge
	o.FetchLimit = b.c.Fetch
	o.PerPrompt, o.Reinject, o.Announce = b.c.PerPrompt, proxy.Reinject(b.c.Reinject), b.c.Announce
	o.SlashPrefix, o.Exclude, o.AgentID = b.c.SlashPrefixes, b.c.Exclude, b.c.AgentID
	o.ToolHint = func(agent string) bool {
		profile, _ := profileOf(agent, name)
		return b.c.ToolHint == "always" || b.c.ToolHint == "auto" && !profile.AsksForTools && b.c.mcpFor(agent, name) != "off"
	}
	o.KeepsFailed = func(agent string) bool {
		profile, _ := profileOf(agent, name)
		return profile.KeepsFailedPrompt
	}
	o.Placement = func(agent string) proxy.Placement {
		profile, _ := profileOf(agent, name)
		return placement(b.c.Placement, profile)
	}
	if home, err := os.UserHomeDir(); err == nil {
		o.Record = proxy.Acpx{Home: home, Parent: os.Getppid(), Above: parentOf}.Record
	}
	o.Log = b.log.logger()
}

// profileOf finds what is known of a harness, by its own name or the one that it was started by.
func profileOf(agent, name string) (upstream.Profile, bool) {
	if p, ok := upstream.ByAgent(agent); ok {
		return p, true
	}
	return upstream.Lookup(name)
}

// open opens the database and puts memory together.
func (b *backend) open(ctx context.Context, name, id string) (*proxy.Backend, error) {
	log := b.log.logger()
	db, err := migrations.Open(ctx, b.c.DB)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.db = db
	b.mu.Unlock()
	store := correlation.New(db, correlation.Options{LiveDir: b.c.liveDir(), Log: log})
	info := correlation.ProcessInfo{
		ID: id, Kind: correlation.Relay, Harness: name, Version: versionName(), SignetPath: b.c.SignetPath, Memory: b.c.Memory, Hook: len(b.c.OnSessionEnd) > 0,
	}
	if b.c.daemonConfigured {
		info.URL = b.c.DaemonURL
	}
	process, err := store.Register(ctx, info)
	if err != nil {
		return nil, err
	}
	b.tellOnce(ctx, store)
	next := newSuccession(b.c, store, process, log)
	b.mu.Lock()
	b.succession = next
	b.mu.Unlock()
	b.own = embedded.New(db, embedded.Options{SignetPath: b.c.SignetPath, OtherProjects: b.c.OtherProjects, Log: log})
	next.expire(b.own)
	if !migrations.FTS5() && b.c.Memory != "daemon" {
		b.std.say("built without full-text search: nothing is recalled (build with -tags sqlite_fts5)")
	}
	ledger := &notedLedger{Store: store, log: log}
	source, err := b.source(ledger, b.own, log)
	if err != nil {
		return nil, err
	}
	return &proxy.Backend{
		Ledger:  ledger,
		Memory:  source,
		Process: process.ID(),
		Parent:  parentOfSessions(store, log),
		Leave:   next.leave,
		Learn: func(ctx context.Context) {
			if err := b.own.Learn(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, correlation.ErrBusy) { // there will be quieter moments
				log.Warn().Err(err).Msg("learning from turns")
			}
		},
		End:      func(ctx context.Context) error { return process.Depart(ctx, "ended") },
		HandOver: next.handOver,
		Summarised: func(ctx context.Context, row int64, summary string) error {
			return process.Owe(ctx, correlation.Debt{Session: row, Kind: correlation.KindCompaction, Reason: "compaction", Payload: summary})
		},
	}, nil
}

// store gives the embedded store once it is open.
func (b *backend) store(ctx context.Context) (*embedded.Store, error) {
	select {
	case <-b.opened:
		return b.own, b.failed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// source is where context comes from, as configured.
func (b *backend) source(ledger *notedLedger, own *embedded.Store, log zerolog.Logger) (proxy.Memory, error) {
	if b.c.Memory == "embedded" {
		return localSource{own, own}, nil
	}
	client, err := newDaemon(b.c, daemonToken(), log)
	if err != nil {
		return nil, err
	}
	daemon := &notedDaemon{Client: client, ledger: ledger, signetPath: b.c.SignetPath, log: log}
	if b.c.Memory == "daemon" {
		return localSource{daemon, own}, nil
	}
	return localSource{memory.Auto{Daemon: daemon, Embedded: own}, own}, nil
}

// localSource is a source with the local identity files beside it.
type localSource struct {
	memory.Source
	own *embedded.Store
}

func (s localSource) Identity(who memory.Session) memory.Context { return s.own.Identity(who) }

// close lets go of the database and the log.
func (b *backend) close() {
	if b.tools != nil {
		b.tools.close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.succession != nil {
		b.succession.end()
	}
	if b.db != nil {
		if err := b.db.Close(); err != nil {
			log := b.log.logger()
			log.Warn().Err(err).Msg("closing the database")
		}
	}
	b.log.close()
}

// oneLine folds an error that names several mistakes.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
