// Package e2e tests the built binary with real clients, real harnesses and faults.
package e2e

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the tests read the proxy's database

	"github.com/Signet-AI/signet-acp-proxy/e2e/npm"
	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// Built programs and installed clients, the same for all tests.
var (
	proxyBin string // signet-acp-proxy
	echoBin  string // echoagent
	self     string // this test binary, which plays harnesses of its own (scripted_test.go)

	hostileBin     string // e2e/hostile
	transcriptsBin string // scripts/transcripts
	makeDir        string // what make builds
	nodeCache      string // what Node keeps of the scripts that it has compiled
	modules        npm.Modules
)

func TestMain(m *testing.M) {
	if script := os.Getenv(scriptVariable); script != "" {
		os.Exit(playScript(script))
	}
	if words := os.Getenv(unrulyVariable); words != "" {
		os.Exit(playUnruly(words))
	}
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// atOnce is how many tests run beside each other on a core: they often wait for other programs. Three take as long.
const atOnce = 2

func testMain(m *testing.M) (int, error) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", strconv.Itoa(atOnce*runtime.GOMAXPROCS(0))); err != nil {
			return 1, err
		}
	}
	dir, err := os.MkdirTemp("", "signet-e2e-bin-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	proxyBin, echoBin = filepath.Join(dir, "signet-acp-proxy"), filepath.Join(dir, "echoagent")
	transcriptsBin, hostileBin = filepath.Join(dir, "transcripts"), filepath.Join(dir, "hostile")
	makeDir, nodeCache = filepath.Join(dir, "made"), filepath.Join(dir, "node")
	if out, err := exec.Command("go", "build", "-tags", "sqlite_fts5", "-o", dir+string(filepath.Separator),
		"../cmd/signet-acp-proxy", "./echoagent", "./hostile", "../scripts/transcripts").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	if self, err = os.Executable(); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if modules, err = npm.Install(ctx, "."); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// A box is a sandbox of one test.
type box struct {
	*sandbox.Sandbox
	t *testing.T

	requestLog string         // the address that takes the requests of agents in bounds
	held       sync.WaitGroup // they wait for it with a prompt

	goesOn bool     // a script adds to what the one before it was sent
	wrap   []string // what the proxy is started by
	build  string   // a build of the proxy that is not the usual one
}

// program is the proxy that a script is started behind.
func (b *box) program() string { return cmp.Or(b.build, proxyBin) }

// patience is how long a test waits for what must come; it is no measure of speed.
const patience = 10 * time.Minute

// newBox makes a sandbox with the sample identity. At the end of the test nothing may be left running in it.
func newBox(t *testing.T) *box {
	t.Helper()
	s, err := sandbox.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.CopyIdentity(filepath.Join("testdata", "agents")); err != nil {
		t.Fatal(err)
	}
	return &box{Sandbox: s, t: t}
}

func must(b *box, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// set adds variables to the environment of everything that is started from now on.
func (b *box) set(variables ...string) { b.Env = append(b.Env, variables...) }

// run runs a command that must end with code 0 and returns its standard output.
func (b *box) run(command ...string) string {
	b.t.Helper()
	r := b.try(command...)
	if r.Code != 0 {
		b.t.Fatalf("%s: exit %d\n%s%s", strings.Join(command, " "), r.Code, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// try runs a command whose exit code may be any.
func (b *box) try(command ...string) sandbox.Result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	r, err := b.Run(ctx, nil, command...)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// wait polls until done, more and more seldom, and fails the test when that takes too long.
func (b *box) wait(what string, done func() bool) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; !done(); pause = min(2*pause, 20*time.Millisecond) {
		time.Sleep(pause)
		if time.Now().After(deadline) {
			b.t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// database is the path of the proxy's database.
func (b *box) database() string { return filepath.Join(b.Signet, "acp", "sessions.db") }

// takeIn has the database take in what processes have written down that have ended, or are about to. A command takes a
// second for that, and no more.
func (b *box) takeIn() {
	b.t.Helper()
	b.wait("everything to be taken in", func() bool {
		b.run(b.program(), "sessions")
		files, err := filepath.Glob(filepath.Join(b.Signet, "acp", "live", "*.events"))
		must(b, err)
		return len(files) == 0
	})
}

// alone waits until nothing runs in the sandbox any more.
func (b *box) alone() {
	b.t.Helper()
	if left, err := b.Settle(patience); err != nil || len(left) > 0 {
		b.t.Fatalf("still running: %v (%v)", left, err)
	}
}

// query reads rows from the proxy's database, every column as text.
func (b *box) query(statement string, args ...any) [][]string {
	b.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+b.database()+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(statement, args...)
	if err != nil {
		b.t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		b.t.Fatal(err)
	}
	var found [][]string
	for rows.Next() {
		row := make([]sql.NullString, len(columns))
		to := make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			b.t.Fatal(err)
		}
		text := make([]string, len(columns))
		for i, v := range row {
			text[i] = v.String
		}
		found = append(found, text)
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	return found
}

// An echoSession is a file of echoagent's.
type echoSession struct {
	ID    string
	Turns []struct {
		Blocks []struct{ Type, Text string }
		Reply  string
	}
}

// received is what echoagent remembers of a session.
func (b *box) received(id string) echoSession {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.Echo, id+".json"))
	if err != nil {
		b.t.Fatal(err)
	}
	var s echoSession
	if err := json.Unmarshal(text, &s); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// contexts counts the blocks of ours among what a session was given.
func (s echoSession) contexts() int {
	n := 0
	for _, t := range s.Turns {
		for _, given := range t.Blocks {
			if strings.HasPrefix(given.Text, blockMark) {
				n++
			}
		}
	}
	return n
}

// blockMark begins every block that the proxy inserts.
const blockMark = "<signet-memory "

// An echoRequest is a line of echoagent's log.
type echoRequest struct {
	Pid             int
	Method, Session string
}

// requests are the requests that reached any echoagent, with their process.
func (b *box) requests(method string) []echoRequest {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.Echo, "requests.log"))
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	var found []echoRequest
	for line := range strings.Lines(string(text)) {
		var r echoRequest
		if json.Unmarshal([]byte(line), &r) == nil && r.Method == method {
			found = append(found, r)
		}
	}
	return found
}
