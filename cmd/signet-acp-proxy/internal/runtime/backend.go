package runtime

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
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

// A backend is what the relay remembers with: database, daemon, log. It is opened beside the conversation, so that the
// harness's start does not wait for it.
type backend struct {
	c       *config.Config
	std     term.Streams
	log     *logFile
	harness int // the process id of the harness

	events   *eventlog.Log
	follower *follower
	opened   chan struct{} // closed when memories or failed is set
	memories *embedded.Store
	learner  *embedded.Store // on the connection behind
	sent     *messageSource
	process  *correlation.Process  // this process, for what tools leave owed
	sweep    func(context.Context) // takes in what agents have written; nil: nobody has asked for it
	failed   error

	daemon   *signet.Client // nil where no daemon is used
	noDaemon error          // why there is none, though one is to be used
	tools    *memoryTools   // nil if they could not be set up

	mu         sync.Mutex // guards what follows
	db         *sql.DB
	behind     *sql.DB // a connection for what no prompt waits for: it takes turns to write, and delays no read
	dispatcher *delivery.Dispatcher
}

// NewBackend makes the backend of a relay to a harness, by its process id. It opens nothing yet.
func NewBackend(c *config.Config, std term.Streams, harness int) *backend {
	return &backend{
		c: c, std: std, log: NewLog(c, std), harness: harness, opened: make(chan struct{}),
	}
}

// Configure makes a relay use the backend. name is what the harness was started as, id the process's.
func (b *backend) Configure(o *proxy.Options, name, id string, profile upstream.Profile) {
	o.Compat = acpxCompat(profile)
	o.Events = func(folded func(bool, []int)) (proxy.Events, error) {
		var err error
		b.events, err = eventlog.Open(eventlog.Options{
			Dir: b.c.LiveDir(), Process: b.info(name, id), Folded: folded, Log: b.log.Logger(),
			Tell: func(line string) { b.std.Say("%s", line) },
		})
		if err != nil {
			return nil, err
		}
		b.follower = newFollower(b.events, b.c.Presence, filepath.Join(b.c.SignetPath, "skills"), b.log.Logger())
		return b.follower, nil
	}
	o.Open = func(ctx context.Context) (*proxy.Backend, error) {
		var opened *proxy.Backend
		err := guard.Try("opening", func() (err error) {
			guard.Point("opening")
			opened, err = b.open(ctx, name)
			return err
		})
		if !errors.Is(err, sqlite.ErrBusy) { // after ErrBusy the relay tries again
			b.failed = err
			close(b.opened)
		}
		return opened, err
	}
	if b.c.Memory != "embedded" {
		b.daemon, b.noDaemon = NewDaemon(b.c, config.Token(), b.log.Logger())
	}
	if b.noDaemon != nil {
		b.std.Say("no memory tools: %v", b.noDaemon)
	} else {
		b.tools = newMemoryTools(b.c, name, b.log, b.toolOptions(name, id))
		o.MCPServer = b.tools.entry
	}
	o.HoldLimit, o.ClaimLimit = b.c.Hold, b.c.DatabaseWait() // a claim is part of the hold
	o.FetchLimit, o.ContextAge = b.c.Fetch, contextAge
	o.LookLimit = max(proxy.DefaultLook, b.c.DatabaseWait())
	o.PerPrompt, o.Announce = b.c.PerPrompt, b.c.Announce == "on"
	o.Notice = b.c.Announce == "notice"
	o.Private = privacy.FileAt(privateFile(b.c))
	o.Exclude, o.AgentID = b.c.Exclude, b.c.AgentID
	o.Project, o.Ask = delegatedProject(b.c), b.c.Delegation && b.c.DelegationAsk
	if o.Delegation = delegation.Inside(os.Getenv); o.Delegation != "" {
		o.Task = delegation.Task
	}
	profileOf := b.profiles(name)
	o.ToolHint = func(agent, mode string) bool {
		profile := profileOf(agent)
		return !profile.Asks(mode) && b.c.MCPFor(agent, name) != "off"
	}
	o.Traits = func(agent string) session.Traits { // asked for each chunk without an id
		profile := profileOf(agent)
		return session.Traits{
			KeepsFailed: profile.KeepsFailedPrompt, Cancelled: session.Cancelled(profile.Cancelled),
			KeptAfter: profile.KeptAfter, SaysActive: profile.SaysActive,
			KeepsMessages: profile.KeepsMessages, MessageIDs: profile.MessageIDs,
			CompactCommands: profile.CompactCommands, SaysSummary: profile.SaysSummary,
			TitleLength: profile.TitleLength,
		}
	}
	o.Placement = func(agent string) proxy.Placement {
		return placement(b.c.Placement, profileOf(agent))
	}
	if home, err := memory.Home(); err == nil {
		o.Record = proxy.Acpx{Home: home, Parent: os.Getppid(), Above: above}.Record
	}
	o.Log = b.log.Logger()
}

// profiles returns what is known of the harness, by the name that it gives itself; found once.
func (b *backend) profiles(name string) func(agent string) upstream.Profile {
	var found sync.Map
	return func(agent string) upstream.Profile {
		known, there := found.Load(agent)
		if !there {
			profile, _ := b.c.ProfileOf(agent, name)
			known, _ = found.LoadOrStore(agent, profile)
		}
		return known.(upstream.Profile)
	}
}

// toolOptions returns the options of the relay's memory tools.
func (b *backend) toolOptions(name, id string) mcpserver.Options {
	o := ToolOptions(b.c, b.log, b.daemon, b.store)
	if b.daemon != nil {
		o.Owe, o.OnDaemon = b.owe, b.daemonAnswers
	}
	o.Extras = extraTools(b.c, b.log, name, id, b.current)
	o.Harness = func() int { return b.harness }
	o.Refused = func(why string) { noteRefusal(b.c, b.log, why) }
	return o
}

// open opens the database and makes the relay's memory from it.
func (b *backend) open(ctx context.Context, name string) (*proxy.Backend, error) {
	log := b.log.Logger()
	db, err := migrations.Open(ctx, b.c.DB)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.db = db
	b.mu.Unlock()
	DropUndo(b.c, b.log)
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
	dispatcher := newDispatcher(b.c, folded, process, log)
	b.mu.Lock()
	b.dispatcher = dispatcher
	b.mu.Unlock()
	b.memories, b.process = NewStore(b.c, db, b.log), process
	b.learner = NewStore(b.c, behind, b.log)
	source, err := b.source(store, withoutOwnNotes{b.memories}, log)
	if err != nil {
		return nil, err
	}
	b.sent = &messageSource{Source: source, daemon: b.daemon, ledger: delegation.NewLedger(db, b.c.LiveDir()),
		store: store, name: name, child: child, log: b.log}
	if b.c.Delegation && !child {
		b.sent.refresh(ctx)
		b.follower.onTurn(b.sent.refresh)
	}
	if !child {
		b.follower.onTurn(b.removeTrees)
	}
	if b.c.Backfill == "auto" && !child {
		b.sweep = sweepOnce(b.c, b.log)
		b.follower.onTurn(b.sweep)
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
		Ledger:        store,
		Memory:        localSource{b.sent, b.memories},
		Parent:        parentOfSessions(store, log),
		Messages:      b.sent.messages,
		FoldAll:       func(ctx context.Context) { b.foldAll(ctx, folded) },
		TakeIn:        func(ctx context.Context) { b.takeIn(ctx, store) },
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
			return continuedBy(ctx, b.c, store, row, namesOf(agent, name))
		}
	}
	return opened, nil
}

// removeTrees removes the trees of delegations that are kept no longer.
func (b *backend) removeTrees(ctx context.Context) {
	err := b.sent.ledger.RemoveTrees(pace.Gently(ctx), DelegationFolders(b.c), delegation.MaxTrees)
	if err != nil && ctx.Err() == nil {
		b.log.warn(err).Msg("removing trees of delegations")
	}
}

// info is what others can know of this process once it is dead.
func (b *backend) info(name, id string) correlation.ProcessInfo {
	info := correlation.ProcessInfo{
		ID: id, Kind: correlation.Relay, Harness: name, Version: Version, SignetPath: b.c.SignetPath,
		Memory: b.c.Memory, Hook: len(b.c.OnSessionEnd) > 0,
		HookCommand: b.c.OnSessionEnd,
	}
	if b.c.DaemonConfigured {
		info.URL = b.c.DaemonURL
	}
	return info
}

// foldWait is how long to wait for a lock on the database at a time: a prompt is held meanwhile.
const foldWait = 25 * time.Millisecond

// foldAll folds in what other processes have recorded just now, and learns from it. Of many processes that begin at
// once few do that, for all.
func (b *backend) foldAll(ctx context.Context, store *correlation.Store) {
	err := eventlog.Together(ctx, filepath.Join(b.c.Dir(), foldTurn), func(ctx context.Context) error {
		ctx = sqlite.WithLockWait(ctx, foldWait)
		if _, err := b.others(store).Run(ctx); err != nil {
			return err
		}
		b.learn(ctx)
		return nil
	})
	b.tookIn(ctx, err)
}

// takeIn folds in what other processes have recorded just now, whatever the others do.
func (b *backend) takeIn(ctx context.Context, store *correlation.Store) {
	_, err := b.others(store).Run(ctx)
	b.tookIn(ctx, err)
}

// others folds in the files of all other processes.
func (b *backend) others(store *correlation.Store) eventlog.Sweep {
	return eventlog.Sweep{Store: store, Log: b.log.Logger(), Living: true, Except: b.events.Process(),
		Tell: func(line string) { b.std.Say("%s", line) }}
}

func (b *backend) tookIn(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrBusy) { // there will be quieter moments
		b.log.warn(err).Msg("taking in what was said just now")
	}
}

// learnInTurn learns once no other process does, so that none reads a turn that another reads just now.
func (b *backend) learnInTurn(ctx context.Context) {
	if end, err := sqlite.TakeTurn(ctx, filepath.Join(b.c.Dir(), learnTurn)); err == nil {
		defer end()
		b.learn(ctx)
	}
}

// learn makes memories of the turns that have ended.
func (b *backend) learn(ctx context.Context) {
	// a busy database is no reason to warn: it is tried again after the next turn
	if err := b.learner.Learn(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrBusy) {
		b.log.warn(err).Msg("learning from turns")
	}
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
	payload, err := json.Marshal(delivery.Memory{Content: note.Content, Type: note.Type, Importance: note.Importance,
		Tags: note.Tags, AgentID: note.AgentID})
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
func (b *backend) source(store *correlation.Store, local memory.Source, log zerolog.Logger) (memory.Source, error) {
	if b.daemon == nil {
		return local, b.noDaemon
	}
	daemon := &recordingDaemon{Client: b.daemon, follower: b.follower, bypass: store.Bypass, signetPath: b.c.SignetPath,
		log: log}
	if b.c.Memory == "daemon" {
		daemon.tell, daemon.holdLimit = b.std.Say, b.c.Hold-b.c.DatabaseWait()
		return daemon, nil
	}
	return memory.Auto{Daemon: daemon, Embedded: local}, nil
}

// localSource is a source together with the local identity files.
type localSource struct {
	memory.Source
	memories *embedded.Store
}

func (s localSource) Identity(who memory.Session) memory.Context { return s.memories.Identity(who) }

// Close lets go of the database and the log.
func (b *backend) Close() {
	if b.tools != nil {
		b.tools.close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.follower != nil {
		b.follower.close()
		if b.sweep != nil && b.follower.ended { // a process of a single prompt may end before the sweep began
			b.sweep(context.Background())
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
			b.log.warn(err).Msg("closing the database")
		}
	}
	b.log.Close()
}

// announceRecording tells the person, once for each Signet folder, that conversations are recorded, and how to turn
// that off.
func (b *backend) announceRecording(ctx context.Context, store *correlation.Store) {
	first, err := store.Once(ctx, "recording "+b.c.SignetPath)
	if err != nil {
		b.log.warn(err).Msg("telling that conversations are recorded")
		return
	}
	if first {
		b.std.Say("conversations are recorded in %s, for agents to remember; memory: off in the acp: section of "+
			"%s, or SIGNET_BYPASS=1, turns it off (shown once)",
			b.c.DB, filepath.Join(b.c.SignetPath, "agent.yaml"))
	}
}
