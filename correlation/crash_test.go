package correlation_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// The test binary also serves as a process that is killed: a relay that prompts one session again and again, or a
// worker that delivers.
const roleEnv = "CORRELATION_TEST_ROLE"

func reexecuted() func() {
	switch os.Getenv(roleEnv) {
	case "relay":
		return runRelay
	case "worker":
		return runWorker
	}
	return nil
}

// orExit ends such a process with what went wrong.
func orExit[T any](v T, err error) T {
	if err != nil {
		fmt.Println("FAILED", err)
		os.Exit(1)
	}
	return v
}

func runStore() (context.Context, *Store) {
	ctx := context.Background()
	db := orExit(migrations.Open(ctx, os.Args[1]))
	return ctx, New(db, Options{LiveDir: os.Args[2]})
}

// runRelay says on stdout which turns have ended, each line only after the database has it.
func runRelay() {
	ctx, s := runStore()
	p := orExit(s.Register(ctx, ProcessInfo{Kind: Relay, Memory: "daemon"}))
	v := orExit(correlationtest.Session(ctx, s, OpenSession{Harness: "h", ACPID: os.Args[3], Process: p.ID()}))
	fmt.Println("READY")
	for i := 0; ; i++ {
		_, err := s.Claim(ctx, v.ID, []State{Armed, Doubt, Done}, p.ID(),
			Injection{Key: v.Key, Kind: "context", Text: strings.Repeat("context ", 500)})
		claimed := err == nil
		if err != nil && !errors.Is(err, ErrStateChanged) {
			orExit(0, err)
		}
		turn := []Turn{{Session: v.ID, Process: p.ID(), User: fmt.Sprintf("question %d", i)}}
		orExit(0, correlationtest.Save(ctx, s, turn))
		n := i + 1
		for range 3 {
			// As words do, these take a moment. Relays that write without a pause keep the lock from all others:
			// whoever waits for it looks every 100 ms.
			time.Sleep(2 * time.Millisecond)
			orExit(0, correlationtest.Apply(ctx, s, p.ID(), AssistantSaid{Turn: n, Text: strings.Repeat("answer ", 1000)}))
		}
		events := []Event{TurnEnded{Turn: n, Stop: "end_turn"}}
		if claimed {
			events = append(events, Stepped{Session: 1, Step: Step{Name: Answered}})
		}
		orExit(0, correlationtest.Apply(ctx, s, p.ID(), events...))
		fmt.Println("TURN", turn[0].ID)
	}
}

// runWorker says what it posts before it does, and what was answered before it notes that.
func runWorker() {
	ctx, s := runStore()
	fmt.Println("READY")
	for {
		orExit(0, s.SweepDead(ctx, nil))
		d, err := s.Debts().TakeUp(ctx)
		if errors.Is(err, ErrNothingDue) {
			time.Sleep(time.Millisecond)
			continue
		}
		orExit(0, err)
		post := orExit(s.Debts().Select(ctx, d))
		orExit(0, s.Debts().Attempt(ctx, d, post))
		fmt.Println("POST", d.ID)
		orExit(0, s.Debts().Delivered(ctx, d, post, ""))
		for _, turn := range post.Turns {
			fmt.Println("DELIVERED", turn.ID)
		}
	}
}

// A startedProcess is such a process and what it has said.
type startedProcess struct {
	cmd   *exec.Cmd
	lines chan string
}

func (b *bench) start(role string, args ...string) *startedProcess {
	b.tb.Helper()
	p := &startedProcess{cmd: exec.Command(os.Args[0]), lines: make(chan string, 1<<16)}
	p.cmd.Args = append([]string{role, b.dir + "/acp/sessions.db", b.dir + "/acp/live"}, args...)
	p.cmd.Env = append(os.Environ(), roleEnv+"="+role)
	p.cmd.Stderr = os.Stderr
	out := must(p.cmd.StdoutPipe())(b.tb)
	check(b.tb, p.cmd.Start())
	go func() {
		defer close(p.lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			p.lines <- scan.Text()
		}
	}()
	if first := <-p.lines; first != "READY" {
		b.tb.Fatalf("%s: %q", role, first)
	}
	return p
}

// kill ends a startedProcess with SIGKILL and returns the numbers that it said after each word.
func (p *startedProcess) kill(tb testing.TB) map[string][]int64 {
	tb.Helper()
	check(tb, p.cmd.Process.Kill())
	said := make(map[string][]int64)
	for line := range p.lines {
		word, rest, _ := strings.Cut(line, " ")
		n, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			tb.Fatalf("it said %q", line)
		}
		said[word] = append(said[word], n)
	}
	_ = p.cmd.Wait()
	return said
}

// Two relays on one session, another on one of its own, and a worker, all killed at random moments, again and again:
// the database stays whole, every turn that ended is there, what was in flight is in doubt, and in the end every turn
// was delivered, none after it was noted as delivered.
func TestKill(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	b := newBench(t)
	b.Store = New(b.db, Options{LiveDir: b.dir + "/acp/live"}) // with the clock of the started processes
	var ended []int64
	delivered := make(map[int64]int)
	for round := range rounds {
		started := []*startedProcess{b.start("relay", "shared"), b.start("relay", "shared"),
			b.start("relay", fmt.Sprint("own ", round%3)), b.start("worker")}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		rand.Shuffle(len(started), func(i, j int) { started[i], started[j] = started[j], started[i] })
		for _, p := range started {
			said := p.kill(t)
			ended = append(ended, said["TURN"]...)
			for _, id := range said["DELIVERED"] {
				delivered[id]++
			}
		}
		var verdict string
		check(t, b.db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict))
		if verdict != "ok" {
			t.Fatalf("round %d: %s", round, verdict)
		}
		check(t, b.SweepDead(t.Context(), nil))
		if n := b.count(`SELECT count(*) FROM sessions
			WHERE state = 'in flight' OR claim_by <> '' AND state NOT IN ('doubt', 'done')`); n != 0 {
			t.Errorf("round %d: %d sessions are in flight without a process", round, n)
		}
		if n := b.count("SELECT count(*) FROM injections WHERE outcome = 'in flight'"); n != 0 {
			t.Errorf("round %d: %d injections are", round, n)
		}
		if n := b.count("SELECT count(*) FROM turns WHERE ended = 0"); n != 0 {
			t.Errorf("round %d: %d turns go on without a process", round, n)
		}
	}
	for _, id := range ended {
		if b.count("SELECT count(*) FROM turns WHERE id = ? AND stop = 'end_turn' AND length(assistant) = 21000",
			id) != 1 {
			t.Errorf("turn %d was lost", id)
		}
	}
	for id, n := range delivered {
		if n > 1 {
			t.Errorf("turn %d was delivered %d times after the first was noted", id, n)
		}
	}
	if b.count("SELECT count(*) FROM pragma_foreign_key_check") != 0 {
		t.Error("rows point nowhere")
	}

	for {
		d, err := b.Debts().TakeUp(t.Context())
		if errors.Is(err, ErrNothingDue) {
			next, open, err := b.Debts().Due(t.Context())
			check(t, err)
			if open == 0 {
				break
			}
			time.Sleep(time.Until(next))
			continue
		}
		check(t, err)
		check(t, b.Debts().Delivered(t.Context(), d, b.attempt(d), ""))
	}
	if n := b.count("SELECT count(*) FROM turns WHERE daemon_delivery = 0"); n != 0 {
		t.Errorf("%d turns were never delivered", n)
	}
	later := New(b.db, Options{LiveDir: b.dir + "/acp/live",
		Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	check(t, later.SweepDead(t.Context(), nil))
	if left := b.locks(); len(left) != 0 {
		t.Errorf("locks left: %s", left)
	}
	t.Logf("%d turns ended, %d delivered", len(ended), b.count("SELECT count(*) FROM turns"))
}
