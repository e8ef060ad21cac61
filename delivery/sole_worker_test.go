package delivery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// A second worker tells the first what it knows, and ends; what it told is heeded, also when it came at the very end.
func TestSingle(t *testing.T) {
	dir := t.TempDir()
	first, second := &Credentials{}, &Credentials{}
	first.Add(Credential{URL: "a", Token: "one"})
	second.Add(Credential{URL: "b", Token: "two"})
	second.Add(Credential{URL: "c"}) // without a token: says nothing
	runs := 0
	err := RunSingle(t.Context(), dir, first, zerolog.Nop(), func(wake <-chan struct{}) error {
		if runs++; runs > 1 {
			return nil
		}
		if info, err := os.Stat(filepath.Join(dir, socketName)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("socket: %v (%v)", info.Mode(), err)
		}
		return RunSingle(t.Context(), dir, second, zerolog.Nop(), func(<-chan struct{}) error {
			t.Error("a second worker works")
			return nil
		})
	})
	if err != nil || runs != 2 {
		t.Errorf("worked %d times (%v)", runs, err)
	}
	for url, want := range map[string]string{"a": "one", "b": "two", "c": "", "": ""} {
		if got := first.Token(url); got != want {
			t.Errorf("token for %q: %q, want %q", url, got, want)
		}
	}
}

// A worker whose work fails, or that is told to end, gives its place up; so does one that was killed, whose socket is
// left.
func TestSingleEnds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, socketName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no")
	for range 2 {
		if err := RunSingle(t.Context(), dir, &Credentials{}, zerolog.Nop(),
			func(<-chan struct{}) error { return failure }); !errors.Is(err, failure) {
			t.Error(err)
		}
	}
}

// One that is neither free nor listening is waited for as long as the caller has time, and no longer.
func TestSingleSilent(t *testing.T) {
	dir := t.TempDir()
	silent, err := claim(t.Context(), dir, &Credentials{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.close()
	silent.listen.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := claim(ctx, dir, &Credentials{}, zerolog.Nop()); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// What a relay leaves is a line with the credential; anything else is a mistake.
func TestParted(t *testing.T) {
	got, err := AwaitRelay(t.Context(), strings.NewReader(`{"url":"http://x","token":"secret"}`+"\n"))
	if err != nil || got != (Credential{URL: "http://x", Token: "secret"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, odd := range []string{"", "secret\n", `{"url":`} {
		if _, err := AwaitRelay(t.Context(), strings.NewReader(odd)); err == nil {
			t.Errorf("%q is taken", odd)
		}
	}
}
