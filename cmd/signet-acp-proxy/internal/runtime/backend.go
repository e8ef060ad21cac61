package runtime

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/mcpserver"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/proxy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A Started is the harness that a relay has started.
type Started struct {
	Name    string // what it was started as
	Profile upstream.Profile
	ID      int // of its process
}

// A backend is what the relay remembers with: database, daemon, log. It is opened beside the conversation, so that the
// harness's start does not wait for it.
type backend struct {
	c       *config.Config
	std     term.Streams
	log     *logFile
	id      string // of this process
	harness Started

	events   *eventlog.Log
	follower *follower
	opened   chan struct{} // closed when memories or failed is set
	memories *embedded.Store
	learner  *embedded.Store // on the connection behind
	sent     *messageSource
	process  *correlation.Process  // this process, for what tools leave owed
	backfill func(context.Context) // takes in what agents have written; nil: nobody has asked for it
	failed   error

	daemon *signet.Client    // nil where none is used
	tools  *mcpserver.Server // nil if they could not be set up

	mu         sync.Mutex // guards what follows
	db         *sql.DB
	behind     *sql.DB // a connection for what no prompt waits for: it takes turns to write, and delays no read
	dispatcher *delivery.Dispatcher
}

// NewBackend makes the backend of a relay, by the id of its process. It opens nothing yet.
func NewBackend(c *config.Config, std term.Streams, id string, harness Started) *backend {
	return &backend{c: c, std: std, log: NewLog(c, std), id: id, harness: harness, opened: make(chan struct{})}
}

// Options returns the options of a relay that uses the backend, in place of those of a byte pump.
func (b *backend) Options(pump proxy.Options) proxy.Options {
	o := proxy.Options{
		Client: pump.Client, Harness: pump.Harness, Name: pump.Name, Log: b.log.Logger,
		Events: b.begin, Open: b.tryOpen, Heard: func(e ...correlation.Event) { b.follower.note(e...) },
		HoldLimit: b.c.Hold, FetchLimit: b.c.Fetch, ContextAge: contextAge,
		Identity: embedded.New(nil, embeddedOptions(b.c)).Identity,
		Announce: b.c.Announce == "on", Notice: b.c.Announce == "notice",
		Exclude: b.c.Exclude, Private: privacy.FileAt(privateFile(b.c)), AgentID: b.c.AgentID,
		Project: delegatedProject(b.c), Ask: b.c.Delegation && b.c.DelegationAsk,
		Delegation: delegation.Inside(os.Getenv),
		Compat:     acpxCompat(b.harness.Profile), Traits: b.traits,
	}
	if o.Delegation != "" {
		o.Task = delegation.Task
	}
	if home, err := memory.Home(); err == nil {
		o.Record = proxy.Acpx{Home: home, Parent: os.Getppid(), Above: above}.Record
	}
	if b.c.Memory != "embedded" {
		var err error
		if b.daemon, err = NewDaemon(b.c, config.Token(), b.log.Logger); err != nil {
			b.std.Say("no memory tools: %v", err)
			o.Open = func(context.Context) (*proxy.Backend, error) { return nil, err }
			return o
		}
	}
	tools := ToolOptions(b.c, b.log, b.daemon, b.store)
	if b.daemon != nil {
		tools.Owe, tools.OnDaemon = b.owe, b.daemonAnswers
	}
	tools.Extras = extraTools(b.c, b.log, b.harness.Name, b.id, b.current)
	tools.Harness = func() int { return b.harness.ID }
	tools.Refused = func(why string) { // doctor reads it
		if err := files.ReplaceText(refusalFile(b.c), 0o600, []byte(why)); err != nil {
			b.log.Warn().Err(err).Msg("noting who was refused the memory tools")
		}
	}
	b.tools = mcpserver.New(tools)
	o.MCPServer = b.serve
	return o
}

// begin begins to write down events, and what follows these.
func (b *backend) begin(folded func(bool, []int)) (_ proxy.Events, err error) {
	process := configured(b.c) // what others can know of it once it is dead
	process.ID, process.Kind, process.Harness, process.Version = b.id, correlation.Relay, b.harness.Name, Version
	process.Hook, process.HookCommand = len(b.c.OnSessionEnd) > 0, b.c.OnSessionEnd
	b.events, err = eventlog.Open(eventlog.Options{
		Dir: b.c.LiveDir(), Process: process, Folded: folded, Log: b.log.Logger, Tell: b.std.Line,
		Checkpoint: b.checkpoint,
	})
	if err != nil {
		return nil, err
	}
	b.follower = newFollower(b.events, b.c.Presence, filepath.Join(b.c.SignetPath, "skills"), b.log.Logger)
	return b.events, nil
}

// tryOpen opens the database. After sqlite.ErrBusy the relay tries again.
func (b *backend) tryOpen(ctx context.Context) (opened *proxy.Backend, err error) {
	err = guard.Try("opening", func() (err error) {
		guard.Point("opening")
		opened, err = b.open(ctx)
		return err
	})
	if !errors.Is(err, sqlite.ErrBusy) {
		b.failed = err
		close(b.opened)
	}
	return opened, err
}

// traits returns what is known of the harness, by the name that it gives itself.
func (b *backend) traits(agent string) session.Traits {
	p, _ := b.c.ProfileOf(agent, b.harness.Name)
	return traits(p, b.tools != nil && b.c.MCPFor(agent, b.harness.Name) != "off", b.c.Placement)
}

// open opens the database and makes the relay's memory from it.
func (b *backend) open(ctx context.Context) (*proxy.Backend, error) {
	log := b.log.Logger
	db, err := migrations.Open(ctx, b.c.DB)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.db = db
	b.mu.Unlock()
	DropOutdated(b.c, b.log)
	behind, err := migrations.Again(ctx, b.c.DB)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.behind = behind
	b.mu.Unlock()
	store, folded := NewSessions(b.c, db, b.log), NewSessions(b.c, behind, b.log)
	child := delegation.Inside(os.Getenv) != ""
	if !child { // what it says on stderr may stand as the reason of a failure
		b.announceRecording(ctx, store)
	}
	process := folded.Process(b.events.Process())
	dispatcher := newDispatcher(b.c, folded, log)
	b.mu.Lock()
	b.dispatcher = dispatcher
	b.mu.Unlock()
	b.memories, b.process = NewStore(b.c, db, b.log), process
	b.learner = NewStore(b.c, behind, b.log)
	source := b.source(store, b.memories, log)
	b.sent = &messageSource{Source: source, daemon: b.daemon, ledger: Ledger(b.c, db),
		store: store, name: b.harness.Name, child: child, log: b.log}
	if b.c.Delegation && !child {
		b.sent.refresh(ctx)
		b.follower.onTurn(b.sent.refresh)
	}
	if !child {
		b.follower.onTurn(b.removeTrees)
	}
	if b.c.Backfill == "auto" && !child {
		b.backfill = autoBackfillOnce(b.c, b.log)
		b.follower.onTurn(b.backfill)
	}
	b.events.Attach(folded)
	b.follower.attach(b.daemon, func(ctx context.Context, key string) error {
		if err := b.events.Folded(pace.Gently(ctx)); err != nil {
			return err
		}
		owed, err := process.OweSoFar(ctx, key)
		if err == nil && owed {
			dispatcher.Now(ctx)
		}
		return err
	})
	opened := &proxy.Backend{
		Ledger:   store,
		Memory:   b.sent,
		Parent:   parentOfSessions(store, log),
		Messages: b.sent.messages,
		FoldAll:  func(ctx context.Context) { b.foldAll(ctx, folded) },
		TakeIn: func(ctx context.Context) { // whatever the others do
			b.log.repeated(ctx, "taking in new turns", b.others(store).Run(ctx))
		},
		Learn:         b.learnInTurn,
		ClientGone:    dispatcher.ClientGone,
		SessionClosed: dispatcher.Now,
	}
	if b.c.DelegationAsk {
		ledger := b.sent.ledger
		opened.Answered = ledger.Answer
		opened.Questions = func(ctx context.Context, keys []string) ([]proxy.Question, error) {
			all, err := ledger.Questions(ctx, keys)
			var questions []proxy.Question
			for _, q := range all {
				questions = append(questions, proxy.Question(q))
			}
			return questions, err
		}
	}
	if !child { // a handoff is for a session of the user's
		opened.Continued = func(ctx context.Context, row int64, agent string) (string, error) {
			return continuedBy(ctx, b.c, store, row, namesOf(agent, b.harness.Name))
		}
	}
	return opened, nil
}

// checkpoint brings the database's log into its file. It syncs the disk, so it has a connection of its own.
func (b *backend) checkpoint(ctx context.Context) error {
	db, err := migrations.Again(ctx, b.c.DB)
	if err != nil {
		return err
	}
	return errors.Join(NewSessions(b.c, db, b.log).Settle(ctx), db.Close())
}

// removeTrees removes the trees of delegations that are kept no longer.
func (b *backend) removeTrees(ctx context.Context) {
	b.log.repeated(ctx, "removing trees of delegations",
		b.sent.ledger.RemoveTrees(pace.Gently(ctx), delegation.MaxTrees))
}

// store returns the embedded store once it is open.
func (b *backend) store(ctx context.Context) (*embedded.Store, error) {
	select {
	case <-b.opened:
		return b.memories, b.failed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// current returns the database with all that this process has recorded folded in.
func (b *backend) current(ctx context.Context) (*sql.DB, error) {
	if _, err := b.store(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	db := b.db
	b.mu.Unlock()
	return db, b.events.Folded(ctx)
}

// owe leaves a memory that a tool stored to be handed to the daemon.
func (b *backend) owe(ctx context.Context, who memory.Session, note signet.Note) (bool, error) {
	if _, err := b.store(ctx); err != nil {
		return false, err
	}
	payload, err := json.Marshal(note)
	if err != nil {
		return false, err
	}
	return b.process.OweMemory(ctx, who.Key, string(payload))
}

// daemonAnswers starts a delivery, because the daemon answers again.
func (b *backend) daemonAnswers() {
	b.mu.Lock()
	dispatcher := b.dispatcher
	b.mu.Unlock()
	if dispatcher != nil {
		dispatcher.Deliver()
	}
}

// source is the configured source of context; local is the embedded store.
func (b *backend) source(store *correlation.Store, local memory.Source, log zerolog.Logger) memory.Source {
	if b.daemon == nil {
		return local
	}
	daemon := &recordingDaemon{Client: b.daemon, follower: b.follower,
		bypass: store.Debts().Bypass, signetPath: b.c.SignetPath,
		log: log}
	if b.c.Memory == "daemon" {
		daemon.tell, daemon.holdLimit = b.std.Say, session.AskTime(b.c.Hold)
		return daemon
	}
	return memory.Auto{Daemon: daemon, Embedded: local}
}

// Close lets go of the database and the log.
func (b *backend) Close() {
	if b.tools != nil {
		b.tools.Close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.follower != nil {
		b.follower.close()
		if b.backfill != nil && b.follower.ended > 0 { // a process of a single prompt may end before that began
			b.backfill(context.Background())
		}
	}
	if b.daemon != nil {
		b.daemon.Close()
	}
	if b.dispatcher != nil {
		b.dispatcher.End()
	}
	for _, db := range []*sql.DB{b.behind, b.db} {
		if db == nil {
			continue
		}
		if err := db.Close(); err != nil {
			b.log.Warn().Err(err).Msg("closing the database")
		}
	}
	b.log.Close()
}

// announceRecording tells the person, once for each Signet folder, that conversations are recorded, and how to turn
// that off.
func (b *backend) announceRecording(ctx context.Context, store *correlation.Store) {
	first, err := store.Once(ctx, "recording "+b.c.SignetPath)
	if err != nil {
		b.log.Warn().Err(err).Msg("announcing that conversations are saved")
		return
	}
	if first {
		b.std.Say("conversations are saved in %s; memory: off in the acp: section of "+
			"%s, or SIGNET_BYPASS=1, turns it off (shown once)",
			b.c.DB, filepath.Join(b.c.SignetPath, "agent.yaml"))
	}
}
