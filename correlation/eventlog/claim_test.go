package eventlog_test

import (
	"context"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// A claim whose settling was not folded in when its process was found dead is settled by it still.
func TestClaimSettledLate(t *testing.T) {
	b := newBench(t)
	l := b.log(true)
	session, row := b.claimed(l)
	tx := must(b.db.BeginTx(t.Context(), nil))(t) // the only connection is busy: nothing is folded in
	l.Append(correlation.Stepped{Session: session, Step: correlation.Step{Name: correlation.Answered}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	left := must(l.Close(ctx))(t)
	check(t, tx.Rollback())
	if have := must(b.store.State(t.Context(), row))(t); have != correlation.Doubt || !left {
		t.Errorf("the state is %q, left: %t", have, left)
	}
	b.sweep()
	if have := must(b.store.State(t.Context(), row))(t); have != correlation.Done {
		t.Errorf("the state is %q", have)
	}
}

// claimed returns a session, by its number and its row, whose first prompt this process has claimed.
func (b *bench) claimed(l *Log) (session int, row int64) {
	b.tb.Helper()
	session = number()
	l.Append(correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: "s", New: true}})
	row = must(l.Row(b.tb.Context(), session))(b.tb)
	must(b.store.Claim(b.tb.Context(), row, []correlation.State{correlation.Armed}, l.Process(),
		correlation.Injection{Kind: "context", Text: "x"}))(b.tb)
	return session, row
}
