package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	. "github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// One has the turn at a time; who gives up waiting keeps nobody else from it.
func TestTakeTurn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "turn")
	end, err := TakeTurn(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	type answer struct {
		end func()
		err error
	}
	impatient, patient := make(chan answer), make(chan answer)
	ask := func(ctx context.Context, answers chan answer) {
		end, err := TakeTurn(ctx, file)
		answers <- answer{end, err}
	}
	go ask(ctx, impatient)
	go ask(t.Context(), patient)
	cancel()
	if got := <-impatient; !errors.Is(got.err, context.Canceled) {
		t.Errorf("who gives up: %v", got.err)
	}
	select {
	case <-patient:
		t.Fatal("two have it at once")
	default:
	}
	end()
	got := <-patient
	if got.err != nil {
		t.Fatalf("who waits: %v", got.err)
	}
	got.end()
	if end, err = TakeTurn(t.Context(), file); err != nil {
		t.Fatalf("after all: %v", err)
	}
	end()
	if _, err := TakeTurn(t.Context(), filepath.Join(t.TempDir(), "none", "turn")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its folder: %v", err)
	}
}
