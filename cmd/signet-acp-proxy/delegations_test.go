package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// --follow prints each delegation once for each change, and none that had ended before; log --follow prints a turn once
// it is whole, and ends with the delegation.
func TestFollow(t *testing.T) {
	t.Setenv("SIGNET_ACP_LOG_FILE", "-")
	synctest.Test(t, func(t *testing.T) {
		c, err := config.Load(config.Flags{SignetPath: t.TempDir(), Memory: "embedded"})
		must(err)
		var all, one bytes.Buffer
		asJSON := true
		p := program{&config.Flags{}, &asJSON, term.Streams{Out: &all, Err: new(bytes.Buffer)}}
		d, err := runtime.OpenData(t.Context(), c, p.std)
		must(err)
		defer d.Close()
		ledger := runtime.Ledger(c, d.DB)
		lock, err := correlation.TakeLock(c.LiveDir(), correlation.NewProcessID())
		must(err)
		defer lock.Release()
		begin := func(task string) delegation.Delegation {
			made, _, err := ledger.Create(t.Context(), delegation.Caller{Key: "acp-1"},
				delegation.Request{Agent: "codex", Task: task, Scope: "beak", Kept: "wings"})
			must(err)
			made, err = ledger.Begin(t.Context(), made.ID, lock.ID())
			must(err)
			return made
		}
		before := begin("Before.")
		must(ledger.End(t.Context(), delegation.Delegation{ID: before.ID, Runner: lock.ID(), State: delegation.Done}))
		now := begin("Now.")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- p.followDelegations(ctx, d) }()
		log := program{p.flags, &asJSON, term.Streams{Out: &one}}
		go func() { ended <- log.followDelegation(ctx, d, runtime.Asked{Delegation: now}) }()
		time.Sleep(time.Minute)

		s, err := correlationtest.Session(t.Context(), d.Sessions, correlation.OpenSession{Harness: "codex", ACPID: "child", New: true,
			ParentKey: "acp-1", Process: lock.ID()})
		must(err)
		_, err = d.DB.ExecContext(t.Context(), `UPDATE delegations SET acp_id = 'child',
			work = '{"progress":"looking","usage":{}}' WHERE id = ?`, now.ID)
		must(err)
		must(correlationtest.Save(t.Context(), d.Sessions, []correlation.Turn{{Session: s.ID, Process: lock.ID(), User: "Now."}}))
		time.Sleep(time.Minute)
		if one.Len() > 0 {
			t.Errorf("printed before it was whole: %s", &one)
		}
		must(ledger.End(t.Context(), delegation.Delegation{ID: now.ID, Runner: lock.ID(), State: delegation.Done}))
		time.Sleep(time.Minute)
		must(<-ended) // the log ends by itself
		stop()
		must(<-ended)

		var states []string
		for lines := json.NewDecoder(&all); lines.More(); {
			var row delegation.Row
			must(lines.Decode(&row))
			if row.ID != now.ID {
				t.Errorf("printed: %+v", row)
			}
			states = append(states, string(row.State)+row.Progress)
		}
		if len(states) != 3 || states[0] != "running" || states[1] != "runninglooking" || states[2] != "done" {
			t.Errorf("states: %q", states)
		}
		if n := bytes.Count(one.Bytes(), []byte("\n")); n != 1 || !bytes.Contains(one.Bytes(), []byte(`"text":"Now."`)) {
			t.Errorf("the log:\n%s", &one)
		}
	})
}

// An agent that works for a delegation cannot take back in its shell what was made for it there: its caller does.
func TestTakingBackInside(t *testing.T) {
	c, err := config.Load(config.Flags{SignetPath: t.TempDir(), Memory: "embedded"})
	must(err)
	d, err := runtime.OpenData(t.Context(), c, term.Streams{Err: new(bytes.Buffer)})
	must(err)
	defer d.Close()
	ledger := runtime.Ledger(c, d.DB)
	lock, err := correlation.TakeLock(c.LiveDir(), correlation.NewProcessID())
	must(err)
	defer lock.Release()
	who := delegation.Caller{Key: "acp-1"}
	outer, _, err := ledger.Create(t.Context(), who,
		delegation.Request{Agent: "codex", Task: "Look.", Scope: "beak\neye", Kept: "wings"})
	must(err)
	_, err = ledger.Begin(t.Context(), outer.ID, lock.ID())
	must(err)
	who.Inside = outer.ID
	inner, _, err := ledger.Create(t.Context(), who,
		delegation.Request{Agent: "codex", Task: "Look.", Scope: "beak", Kept: "eye"})
	must(err)
	t.Setenv("SIGNET_ACP_DELEGATION_ID", outer.ID)
	for _, command := range [][]string{{"apply", inner.ID}, {"discard", inner.ID}, {"check", inner.ID, "--", "true"}} {
		var said bytes.Buffer
		args := append([]string{"--signet-path", c.SignetPath, "--memory", "embedded", "delegations"}, command...)
		if code := run(args, term.Streams{Out: &said, Err: &said}); code != 1 ||
			!bytes.Contains(said.Bytes(), []byte("a delegated agent cannot check, apply or discard changes")) {
			t.Errorf("%s: exit %d, %s", command[0], code, &said)
		}
	}
}
