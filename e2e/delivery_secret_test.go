package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// The daemon's token, which also stands in the environment and is said in a prompt, is in nothing that we write or
// start: no file, no log, no argument list, no environment of a worker or of its hook, no transcript.
func TestToken(t *testing.T) {
	t.Parallel()
	const token = "sig_sk_Zk3vQ9xWm7LpT2cRb8NdY5hJf4Gs6Ae1"
	b := newBox(t)
	d := daemontest.Start(t, daemontest.Options{AgentsDir: b.Signet, Token: token})
	b.set("ECHOAGENT_TERSE=1", "SIGNET_API_KEY="+token, "SIGNET_TOKEN="+token)
	hook, gate := filepath.Join(b.Dir, "environment"), filepath.Join(b.Dir, "gate")
	b.run("mkfifo", gate) // the worker's hook waits until it was seen
	must(b, os.WriteFile(filepath.Join(b.Signet, "agent.yaml"),
		[]byte("acp:\n  on_session_end: [sh, -c, 'env > "+hook+"; read l < "+gate+"']\n"), 0o600))

	seen := map[string]int{}
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // looks at everything that runs
		defer close(done)
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			found, err := b.Processes()
			if err != nil {
				t.Error(err)
				return
			}
			for _, p := range found {
				kind := "other"
				if strings.Contains(p.Command, " deliver ") {
					kind = "worker"
					if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.ID)); err == nil &&
						strings.Contains(string(env), token) {
						t.Errorf("the token is in the environment of %s", p)
					}
				}
				if strings.Contains(p.Command, token) {
					t.Errorf("the token is in an argument: %s", kind)
				}
				mu.Lock()
				seen[kind]++
				mu.Unlock()
			}
		}
	}()
	b.talk("My key is "+token+", remember it. "+words, "--daemon-url", d.URL(), "--log-level", "trace")
	got := b.queued(d, 1)[0]
	b.wait("a worker", func() bool { mu.Lock(); defer mu.Unlock(); return seen["worker"] > 0 })
	b.wait("its hook", func() bool { _, err := os.Stat(hook); return err == nil })
	opened, err := os.OpenFile(gate, os.O_RDWR, 0) // which waits for no reader
	must(b, err)
	defer opened.Close()
	_, err = opened.WriteString("go on\n")
	must(b, err)
	b.wait("the hook's end", func() bool {
		return len(b.query(`SELECT 1 FROM debts WHERE kind = 'hook' AND state = 'delivered'`)) == 1
	})
	b.Settle(patience)
	cancel()
	<-done
	if strings.Contains(got.Transcript, token) || !strings.Contains(got.Transcript, "My key is ") {
		t.Errorf("transcript:\n%s", got.Transcript)
	}
	if rows := b.query(`SELECT state FROM debts`); len(rows) != 2 {
		t.Errorf("rows: %q", rows)
	}
	files := 0
	must(b, filepath.WalkDir(b.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasPrefix(path, b.Echo) {
			return err // what the harness keeps is its own
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), token) {
			t.Errorf("the token is in %s", strings.TrimPrefix(path, b.Dir))
		}
		return err
	}))
	if files < 4 {
		t.Errorf("only %d files were looked at", files)
	}
}
