package delivery

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// What a relay leaves is a line with the credential; anything else is a mistake. Its end is waited for, and its locks.
func TestParted(t *testing.T) {
	const line = `{"url":"http://x","token":"secret"}` + "\n"
	for name, tt := range map[string]struct {
		lives, left time.Duration // of the relay, and for us
		want        time.Duration
	}{
		"gone":          {0, time.Hour, 100 * time.Millisecond},
		"lives a while": {time.Second, time.Hour, 1100 * time.Millisecond},
		"lives on":      {time.Hour, 2 * time.Hour, 30100 * time.Millisecond},
		"we are to end": {time.Hour, 2 * time.Second, 2100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.left)
				defer cancel()
				out, relay := io.Pipe()
				go func() {
					_, _ = io.WriteString(relay, line)
					time.Sleep(tt.lives)
					relay.Close()
				}()
				began := time.Now()
				got, err := AwaitRelay(ctx, out)
				if took := time.Since(began); err != nil || got != (Credential{"http://x", "secret"}) || took != tt.want {
					t.Errorf("%+v, %v, after %v, want %v", got, err, took, tt.want)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
	for _, odd := range []string{"", "secret\n", `{"url":`} {
		if _, err := AwaitRelay(t.Context(), strings.NewReader(odd)); err == nil {
			t.Errorf("%q is taken", odd)
		}
	}
}

// A worker that takes our credentials and does not say so has not heard them.
func TestUnheard(t *testing.T) {
	for answer, heard := range map[string]bool{"heard\n": true, "": false, "hea": false, "what?\n": false} {
		socket := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", socket)
		check(t, err)
		go func() {
			conn, err := l.Accept()
			if err == nil {
				_, _ = bufio.NewReader(conn).ReadString('\n')
				_, _ = io.WriteString(conn, answer)
				conn.Close()
			}
		}()
		if err := sendCredentials(socket, nil); (err == nil) != heard {
			t.Errorf("%q: %v", answer, err)
		}
		l.Close()
	}
}
