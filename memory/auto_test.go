package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// fake is a Source of fixed answers.
type fake struct {
	context Context
	err     error
	block   bool // answer only when the context ends
	calls   int
	late    bool // was called with a context that had ended
}

func (f *fake) answer(ctx context.Context) (Context, error) {
	f.calls++
	f.late = ctx.Err() != nil
	if f.block {
		<-ctx.Done()
		return Context{}, fmt.Errorf("asking: %w", ErrUnavailable)
	}
	return f.context, f.err
}

func (f *fake) Start(ctx context.Context, _ Session) (Context, error) { return f.answer(ctx) }
func (f *fake) Recall(ctx context.Context, _ Session, _ string, _ []string) (Context, error) {
	return f.answer(ctx)
}

func TestAuto(t *testing.T) {
	daemon, embedded := Context{Source: FromDaemon, Notes: "d"}, Context{Source: FromEmbedded, Notes: "e"}
	wrapped := func(err error) error { return fmt.Errorf("daemon: %w", err) }
	for _, c := range []struct {
		name             string
		daemon, embedded *fake
		source           string
		err              error
		spent            bool
		embeddedAsked    int
	}{
		{"daemon answers", &fake{context: daemon}, &fake{context: embedded}, FromDaemon, nil, false, 0},
		{"daemon has nothing", &fake{context: Context{Source: FromDaemon}}, &fake{context: embedded}, FromDaemon, nil, false, 0},
		{"no daemon there", &fake{err: wrapped(ErrUnavailable)}, &fake{context: embedded}, FromEmbedded, nil, false, 1},
		{"broken daemon", &fake{err: errors.New("garbage")}, &fake{context: embedded}, FromEmbedded, nil, false, 1},
		{"owned", &fake{err: wrapped(ErrOwned)}, &fake{context: embedded}, "", ErrOwned, false, 0},
		{"key spent", &fake{err: wrapped(ErrKeySpent)}, &fake{context: embedded}, FromEmbedded, nil, true, 1},
		{"key spent, context all the same", &fake{context: daemon, err: wrapped(ErrKeySpent)}, &fake{context: embedded}, FromDaemon, nil, true, 0},
		{"neither", &fake{err: ErrUnavailable}, &fake{err: ErrUnavailable}, "", ErrUnavailable, false, 1},
		{"no daemon configured", nil, &fake{context: embedded}, FromEmbedded, nil, false, 1},
		{"no embedded store", &fake{err: wrapped(ErrKeySpent)}, nil, "", ErrKeySpent, false, 0},
		{"nothing configured", nil, nil, "", ErrUnavailable, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a Auto
			if c.daemon != nil {
				a.Daemon = c.daemon
			}
			if c.embedded != nil {
				a.Embedded = c.embedded
			}
			got, err := a.Start(t.Context(), Session{Key: "k"})
			if !errors.Is(err, c.err) || got.Source != c.source || got.KeySpent != c.spent {
				t.Errorf("Start: %+v, %v", got, err)
			}
			if c.embedded != nil && c.embedded.calls != c.embeddedAsked {
				t.Errorf("embedded store asked %d times", c.embedded.calls)
			}
			got, err = a.Recall(t.Context(), Session{Key: "k"}, "prompt", nil)
			if !errors.Is(err, c.err) && !errors.Is(c.daemon.err, ErrKeySpent) {
				t.Errorf("Recall: %+v, %v", got, err)
			}
		})
	}
}

// What only one of the two has is told, and what both have once, in the daemon's words and before ours.
func TestAutoRecallsBoth(t *testing.T) {
	daemon := &fake{context: Context{Source: FromDaemon, Items: []Item{{ID: "d1", Text: "The ferry leaves pier nine at noon.", Score: .2},
		{ID: "d2", Text: "The mast is of spruce.", Score: .9}}}}
	embedded := &fake{context: Context{Source: FromEmbedded, Profile: []Item{{ID: "p", Text: "Always answer in German."}},
		Where: []Place{{Paths: []string{"hull.go"}}}, Items: []Item{{ID: "e1", Text: "At noon the ferry leaves from pier nine.", Score: 9}, {ID: "e2", Text: "The kiln holds 1240 degrees.", Score: 8},
			{ID: "e3", Text: "The hull is ochre.", Score: 7}}}}
	got, err := Auto{Daemon: daemon, Embedded: embedded}.Recall(t.Context(), Session{Key: "k"}, "prompt", nil)
	if err != nil || got.Source != FromDaemon || len(got.Profile) != 1 || len(got.Where) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	block, ok := Compose("k", Context{}, got, false)
	if want := []string{"p", "d2", "d1", "e2", "e3", "file:hull.go"}; !ok || !slices.Equal(block.Items, want) {
		t.Errorf("told %q, want %q", block.Items, want)
	}
	if got, err = (Auto{Daemon: &fake{err: ErrUnavailable}, Embedded: embedded}).Recall(t.Context(), Session{Key: "k"}, "p",
		nil); err != nil || len(got.Items) != 3 {
		t.Errorf("without the daemon: %+v, %v", got, err)
	}
}

func TestAutoStartHasTimeAfterTheDaemonTookItAll(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	embedded := &fake{context: Context{Source: FromEmbedded}}
	got, err := Auto{Daemon: &fake{block: true}, Embedded: embedded}.Start(ctx, Session{})
	if err != nil || got.Source != FromEmbedded || embedded.late {
		t.Errorf("%+v, %v, late %v", got, err, embedded.late)
	}
}

func TestAutoAsksNobodyElseOnceCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	embedded := &fake{}
	if _, err := (Auto{Daemon: &fake{block: true}, Embedded: embedded}).Start(ctx,
		Session{}); err == nil || embedded.calls > 0 {
		t.Errorf("start: %v, embedded asked %d times", err, embedded.calls)
	}
	if _, err := (Auto{Daemon: &fake{block: true}, Embedded: embedded}).Recall(ctx, Session{}, "p",
		nil); err == nil || embedded.calls > 0 {
		t.Errorf("recall: %v, embedded asked %d times", err, embedded.calls)
	}
}

func TestContextEmpty(t *testing.T) {
	for _, c := range []Context{{}, {Source: FromDaemon, Version: "1"}, {Items: []Item{{ID: "x", Text: " "}}}} {
		if !c.Empty() {
			t.Errorf("%+v is not empty", c)
		}
	}
	for _, c := range []Context{{Identity: "x"}, {Notes: "x"}, {Mixed: "x"}, {Items: []Item{{Text: "x"}}}} {
		if c.Empty() {
			t.Errorf("%+v is empty", c)
		}
	}
}
