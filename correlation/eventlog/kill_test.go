package eventlog_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// The test binary is also the processes that are killed.
const roleVariable = "EVENTLOG_TEST_ROLE"

func reexecuted() func() {
	switch os.Getenv(roleVariable) {
	case "talk":
		return talk
	case "fill":
		return fill
	}
	return nil
}

// child starts a process of this binary on the bench's folder.
func (b *bench) child(role string, arguments ...string) (*exec.Cmd, *bufio.Scanner) {
	b.tb.Helper()
	cmd := exec.Command(os.Args[0], append([]string{b.dir, b.path}, arguments...)...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())(b.tb)
	check(b.tb, cmd.Start())
	b.tb.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// talk is a process that says every turn on stdout once its end is written down, as a relay lets the response leave.
func talk() {
	tb := panicker{}
	l := must(Open(Options{Dir: os.Args[1], Process: correlation.ProcessInfo{Kind: correlation.Relay,
		Memory: "daemon"}}))(tb)
	ctx := context.Background()
	go func() {
		db := must(migrations.Open(ctx, os.Args[2]))(tb)
		l.Attach(correlation.New(db, correlation.Options{LiveDir: os.Args[1]}))
	}()
	const session = 1
	l.Append(correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: l.Process(), New: true}})
	for turn := 1; ; turn++ {
		l.Append(correlation.TurnBegan{Session: session, Turn: turn}, correlation.UserSaid{Turn: turn, Text: fmt.Sprint("question ", turn)})
		for i := range 5 {
			l.Append(correlation.AssistantSaid{Turn: turn, Text: fmt.Sprint("answer ", turn, " part ", i, "\n")})
		}
		// else the machine is too busy to say anything of this one
		if l.AppendWait(ctx, correlation.TurnEnded{Turn: turn, Stop: "end_turn"}) == nil {
			fmt.Println(l.Process(), turn)
		}
		time.Sleep(time.Millisecond)
	}
}

// panicker is a testing.TB outside a test.
type panicker struct{ testing.TB }

func (panicker) Helper()           {}
func (panicker) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// A process is killed at any moment after its client has read a response: the turn is there, once, with what was said;
// also while somebody else holds the database. EVENTLOG_TEST_KILLS sets how often.
func TestKill(t *testing.T) {
	runs := 10
	if n, err := strconv.Atoi(os.Getenv("EVENTLOG_TEST_KILLS")); err == nil {
		runs = n
	}
	for _, locked := range []bool{false, true} {
		t.Run(fmt.Sprintf("locked %t", locked), func(t *testing.T) {
			b := newBench(t)
			turns := 0
			for range runs {
				var unlock func() error
				if locked {
					unlock = must(b.db.BeginTx(t.Context(), nil))(t).Rollback
				}
				process, last := killed(b, 1+rand.IntN(8))
				if locked {
					check(t, unlock())
				}
				b.sweep()
				turns += last
				b.survived(process, last)
			}
			if b.count("SELECT count(*) FROM turns WHERE ended = 0") != 0 ||
				b.count("SELECT count(*) FROM processes WHERE ended = 0") != 0 || len(b.files()) != 0 {
				t.Errorf("something is left: %q", b.files())
			}
			if locks := must(filepath.Glob(filepath.Join(b.dir, "*.lock")))(t); len(locks) != 0 {
				t.Errorf("locks are left: %q", locks)
			}
			t.Logf("%d kills, %d turns", runs, turns)
		})
	}
}

// killed lets a process say some turns, kills it 0 to 30 ms after the last, and returns its id and how many turns it has
// said.
func killed(b *bench, turns int) (process string, last int) {
	cmd, lines := b.child("talk")
	for last < turns && lines.Scan() {
		var number string
		process, number, _ = strings.Cut(lines.Text(), " ")
		last = must(strconv.Atoi(number))(b.tb)
	}
	time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
	check(b.tb, cmd.Process.Kill())
	for lines.Scan() { // what it had said before
		_, number, _ := strings.Cut(lines.Text(), " ")
		last = must(strconv.Atoi(number))(b.tb)
	}
	_ = cmd.Wait()
	return process, last
}

// survived checks the turns of a process that has said so many.
func (b *bench) survived(process string, said int) {
	b.tb.Helper()
	v := must(b.store.Find(b.tb.Context(), "claude", process))(b.tb)
	turns := must(b.store.Book().Turns(b.tb.Context(), v.ID))(b.tb)
	if len(turns) < said || len(turns) > said+2 { // one may have ended, or begun, and not been said
		b.tb.Errorf("%s: %d turns, it has said %d", process, len(turns), said)
	}
	for i, t := range turns[:min(said, len(turns))] {
		if t.Stop != "end_turn" {
			b.tb.Errorf("%s: turn %d of %d was lost: %+v", process, i+1, said, t)
		}
		want := ""
		for part := range 5 {
			want += fmt.Sprint("answer ", i+1, " part ", part, "\n")
		}
		if t.User != fmt.Sprint("question ", i+1) || t.Assistant != want {
			b.tb.Errorf("%s: turn %d of %d says %q and %q", process, i+1, said, t.User, t.Assistant)
		}
	}
}

// fill is a process that may write little: its disk is full.
func fill() {
	tb := panicker{}
	limitFiles(must(strconv.ParseUint(os.Args[3], 10, 64))(tb))
	l := must(Open(Options{Dir: os.Args[1], Process: correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"},
		Tell: func(line string) { fmt.Println("told:", line) }}))(tb)
	const session = 1
	l.Append(correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: "s", New: true}})
	for turn := 1; turn <= 50; turn++ {
		if turn == 41 && os.Args[4] == "a moment" {
			limitFiles(math.MaxUint64)
		}
		l.Append(correlation.TurnBegan{Session: session, Turn: turn}, correlation.AssistantSaid{Turn: turn, Text: strings.Repeat("word ", 400)})
		if l.AppendWait(context.Background(), correlation.TurnEnded{Turn: turn, Stop: "end_turn"}) == nil {
			fmt.Println("turn:", turn)
		}
	}
	left, err := l.Close(context.Background())
	fmt.Println("closed:", left, err)
}

// fills runs a process whose disk is full, for good or for a moment, and returns what it has said.
func (b *bench) fills(long string) (said map[string][]string) {
	b.tb.Helper()
	cmd, lines := b.child("fill", fmt.Sprint(20<<10), long)
	said = map[string][]string{}
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), ": ")
		said[word] = append(said[word], rest)
	}
	check(b.tb, cmd.Wait())
	return said
}

// What is said while a disk is full for a moment waits, and nothing of it is lost.
func TestDiskFullForAMoment(t *testing.T) {
	b := newBench(t)
	if told := b.fills("a moment")["told"]; len(told) != 1 || !strings.Contains(told[0], "the disk is full") {
		t.Errorf("told: %q", told)
	}
	b.sweep()
	if n := b.count("SELECT count(*) FROM turns WHERE stop = 'end_turn' AND length(assistant) >= 1999"); n != 50 {
		t.Errorf("%d turns are whole, want 50", n)
	}
}

// A disk that is full is told of when it begins, what was lost at the end; what fits is kept.
func TestDiskFull(t *testing.T) {
	b := newBench(t)
	said := b.fills("for good")
	if len(said["told"]) != 2 || !strings.Contains(said["told"][0], "the disk is full") ||
		!strings.Contains(said["told"][1], "could not be saved") {
		t.Errorf("told: %q", said["told"])
	}
	if len(said["turn"]) > 45 {
		t.Errorf("turns %q are written down", said["turn"])
	}
	if len(said["closed"]) != 1 || said["closed"][0] != "true <nil>" {
		t.Errorf("closed: %q", said["closed"])
	}
	b.sweep()
	v := must(b.store.Find(t.Context(), "claude", "s"))(t)
	if n := b.count("SELECT count(*) FROM turns WHERE session = ? AND stop = 'end_turn'", v.ID); n < max(5, len(said["turn"])) {
		t.Errorf("%d turns are there, %d were written down", n, len(said["turn"]))
	}
	if names := must(filepath.Glob(filepath.Join(b.dir, "*")))(t); len(names) != 0 {
		t.Errorf("left: %q", names)
	}
}
