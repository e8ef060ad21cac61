// Package proxy is the relay between an ACP client and a harness.
//
// Two pumps carry frames, one each way; every byte that is not meant to change arrives unchanged and in order. A few
// methods are watched, and of these a handful of frames are edited by splicing: the first prompt of a session gets one
// text block in front, the four requests that carry mcpServers get one server, and replayed copies of our block are cut
// out.
//
// The relay answers nothing itself, adds no time-out to anything that the client asked for and renumbers no id. It asks
// nothing either, but for what a delegation may (Options.Ask, off unless set). It does
// not start or end the harness (package upstream), does not know where context comes from (package memory) and does not
// know how sessions are stored (package correlation): it uses these through the interfaces declared here.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// A Relay is one connection between a client and a harness.
type Relay struct {
	*env
	cancel context.CancelFunc
	gone   atomic.Bool // the client, not the harness, ended the connection
	up     *up
	down   *down
}

// New prepares a relay and begins to open its backend; Run must follow.
func New(o Options) *Relay {
	options := o.withDefaults()
	r := &Relay{env: &env{o: options}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.client.Store(&clientHello{})
	r.agent.Store(&agentHello{})
	r.database, r.recorder = newDatabase(r.env), newRecorder(r.env)
	if options.Open != nil && options.Events != nil {
		events, err := options.Events(r.database.folded)
		if err != nil {
			r.tell("no memory in this conversation: %v", err)
			r.o.Open = nil
		} else {
			r.file = events
		}
	}
	r.talk = session.Own(session.Options{
		Harness: options.Name, AgentID: options.AgentID, Project: options.Project, Exclude: options.Exclude,
		Traits: options.Traits(""), Continues: acpxName,
		Hold: options.HoldLimit, Messages: r.database.messages,
		Delegation: options.Delegation, Now: options.Now, Context: r.ctx,
	}, r.env)
	out, asking := options.Client.Out, (*asker)(nil)
	if options.Ask {
		lines := &wire.Lines{Out: out}
		out = lines
		asking = &asker{env: r.env, out: lines, open: map[string]asked{}, ids: map[string]bool{}}
	}
	r.up = &up{env: r.env, asker: asking, queue: wire.NewQueue(options.Harness.In)}
	r.down = &down{env: r.env, out: out, stream: stream{env: r.env}}
	if r.remembers() {
		guard.Go("database", r.database.run)
		guard.Go("recorder", r.recorder.run)
		if asking != nil {
			r.tasks.run("questions", asking.run)
		}
	}
	return r
}

// remembers reports whether the relay is more than a byte pump.
func (r *Relay) remembers() bool { return r.file != nil }

// Run relays until the harness's output ends. It returns the error that broke the connection, nil if both sides simply
// ended.
//
// The goroutine that reads from the client may outlive Run when the harness ends first, for a read from a pipe cannot
// be interrupted: the caller exits then, or closes the client's end.
func (r *Relay) Run() error {
	defer r.talk.End()
	defer r.cancel()
	if !r.remembers() {
		return r.run(r.copyUp, func() error { return wire.Copy(r.o.Client.Out, r.o.Harness.Out) })
	}
	err := r.run(r.up.run, func() error { return wire.Pump(r.o.Harness.Out, r.down) })
	r.cancel()
	r.tasks.end()
	lost := 0
	guard.Run("last words", func() {
		r.talk.Tell(func(c *session.Connection) { lost = c.HarnessEnded() })
		r.recorder.close()
	})
	guard.Run("end", func() {
		r.findNewRecords()
		r.database.close()
	})
	if r.down.strays > 0 || lost > 0 {
		r.o.Log.Warn().Int("strays", r.down.strays).Int("lost", lost).
			Msg("lines of the harness that were no frames; bytes of turns that were not kept")
	}
	return err
}

// run drives both directions and returns when the harness's output has ended.
func (r *Relay) run(up, down func() error) error {
	upward := make(chan error, 1)
	go func() {
		err := up()
		r.clientGone()
		upward <- err
	}()
	err := down()
	if err != nil { // the client does not read any more: it has gone, but the harness may have more to write
		r.clientGone()
		_, _ = io.Copy(io.Discard, r.o.Harness.Out)
		if errors.Is(err, wire.ErrNoReader) {
			err = nil
		}
	}
	select {
	case upErr := <-upward:
		if err == nil && upErr != nil {
			err = fmt.Errorf("reading from the client: %w", upErr)
		}
	default:
	}
	return err
}

// clientGone tells the harness to end, and writes everything to disk: acpx leaves about 150 ms for that before it kills
// (docs/facts/acpx.md, "The end of a connection").
func (r *Relay) clientGone() {
	r.gone.Store(true)
	r.o.Harness.Hangup()
	r.flush(false)
}

// Flush writes everything that was said to disk, with the end of the process. Call it when we are told to end, and may
// be killed at any moment. It takes at most about 200 ms.
func (r *Relay) Flush() {
	r.flush(true)
}

// flush records what was said, and the end of the process; while a turn is under way only with end.
func (r *Relay) flush(end bool) {
	if r.remembers() {
		guard.Run("flush", r.recorder.flush)
		guard.Run("client's end", func() {
			r.findNewRecords()
			r.database.clientGone(end)
		})
	}
}

// ClientGone reports whether the client ended the connection, rather than the harness.
func (r *Relay) ClientGone() bool { return r.gone.Load() }

// copyUp is the byte pump from the client. As with frames, the other pump reports a harness that does not read any
// more; the client may go on writing.
func (r *Relay) copyUp() error {
	err := wire.Copy(r.o.Harness.In, r.o.Client.In)
	if errors.Is(err, wire.ErrNoReader) {
		_, _ = io.Copy(io.Discard, r.o.Client.In)
		return nil
	}
	return err
}
