package delivery_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

var (
	auditSessions = flag.Int("audit.sessions", 150, "conversations of TestAudit, for each version")
	auditSeed     = flag.Uint64("audit.seed", 1, "seed of TestAudit")
)

// An audit holds what our database calls delivered against the jobs of a daemon.
type audit struct {
	t      *testing.T
	kind   daemontest.Generation
	random *rand.Rand
	now    atomic.Int64 // the daemon asks, too
	db     *sql.DB
	store  *correlation.Store
	daemon *daemontest.Daemon
	gone   string // an address at which nothing listens
	turns  int
	kills  int
	away   int
	moves  int
}

// What our database calls delivered stands in one job of the daemon, and in no other, and what it shows of the job is
// so: after conversations of any length, resumes, kills, absences and changes of address, whatever the version keeps.
// Delivery runs in this process.
func TestAudit(t *testing.T) {
	if testing.Short() {
		*auditSessions = min(*auditSessions, 30)
	}
	for _, kind := range daemontest.All {
		t.Run(kind.Version(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db, err := migrations.Open(t.Context(), filepath.Join(dir, "sessions.db"))
			noError(t, err)
			defer db.Close()
			a := &audit{t: t, kind: kind, random: rand.New(rand.NewPCG(*auditSeed, uint64(kind))), db: db}
			a.now.Store(time.Now().UnixNano())
			a.store = correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "live"), Now: a.clock})
			a.daemon = daemontest.Start(t, daemontest.Options{Generation: kind, Now: a.clock})
			gone := daemontest.Start(t, daemontest.Options{})
			gone.Stop()
			a.gone = gone.URL()
			for i := range *auditSessions {
				a.converse(i % max(*auditSessions*2/3, 1)) // a third of them are resumes
				if i%10 == 9 {
					a.trouble()
				}
			}
			a.daemon.Heal()
			_ = a.daemon.Resume()
			a.move()
			for open := 1; open > 0 && !t.Failed(); {
				a.work(25 * time.Hour)
				_, open, err = a.store.Debts().Due(t.Context())
				noError(t, err)
			}
			a.compare()
		})
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (a *audit) clock() time.Time { return time.Unix(0, a.now.Load()) }

// converse says something in a conversation, which may be one that was there before.
func (a *audit) converse(number int) {
	a.t.Helper()
	ctx := a.t.Context()
	url := [...]string{"", a.daemon.URL(), a.daemon.URL(), a.gone}[a.random.IntN(4)]
	process, err := a.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon", URL: url})
	noError(a.t, err)
	s, err := correlationtest.Session(ctx, a.store, correlation.OpenSession{Harness: "echo", ACPID: fmt.Sprintf("session-%d", number),
		Cwd: "/work", Project: "/work", Process: process.ID()})
	noError(a.t, err)
	a.start(process.ID(), s, url)
	var said []correlation.Turn
	for range a.random.IntN(45) { // sometimes nothing
		said = append(said, a.turn(s.ID, process.ID()))
	}
	middle := a.random.IntN(len(said) + 1)
	if a.random.IntN(4) == 0 { // nothing is left at the end
		middle = len(said)
	}
	noError(a.t, correlationtest.Save(ctx, a.store, said[:middle]))
	if len(said) > 20 { // handed over while the conversation goes on
		_, err := process.OweSoFar(ctx, s.Key)
		noError(a.t, err)
		if a.random.IntN(3) == 0 {
			a.work(time.Second)
		}
	}
	noError(a.t, correlationtest.Save(ctx, a.store, said[middle:]))
	reason := "ended"
	if a.random.IntN(4) == 0 { // what a sweep does for one that was killed
		reason = "died"
		a.kills++
	}
	noError(a.t, process.End(ctx, reason))
}

// start tells the daemon at an address that a session is there, if it hears.
func (a *audit) start(process string, s correlation.Session, url string) {
	a.t.Helper()
	ctx := a.t.Context()
	noError(a.t, correlationtest.Apply(ctx, a.store, process, correlation.KeyStarted{Key: s.Key}))
	c := a.client(url)
	defer c.Close()
	who := memory.Session{Key: s.Key, Cwd: s.Cwd, Project: s.Project}
	if _, err := c.Start(ctx, who); errors.Is(err, memory.ErrKeySpent) {
		_ = c.Claim(ctx, who)
	}
}

func (a *audit) client(url string) *signet.Client {
	a.t.Helper()
	c, err := signet.New(signet.Options{URL: cmp.Or(url, a.daemon.URL()), Configured: true, Now: a.clock})
	noError(a.t, err)
	return c
}

// turn makes a turn of any length, one in 400 of 200,000 characters.
func (a *audit) turn(session int64, process string) correlation.Turn {
	words := func() string { return strings.Repeat("word ", a.random.IntN(60)) }
	a.turns++
	t := correlation.Turn{Session: session, Process: process, User: fmt.Sprintf("q%d. %s", a.turns, words()),
		Assistant: fmt.Sprintf("a%d. %s", a.turns, words())}
	if a.random.IntN(400) == 0 {
		t.Assistant += strings.Repeat("word ", 40_000)
	}
	a.now.Add(int64(time.Second))
	t.Started, t.Ended = a.clock(), a.clock()
	return t
}

// trouble changes how the daemon is, works, and kills a worker at times.
func (a *audit) trouble() {
	const end = "/api/hooks/session-end"
	a.daemon.Heal()
	_ = a.daemon.Resume()
	a.extract()
	if a.random.IntN(4) == 0 {
		a.move()
	}
	kinds := []daemontest.Fault{{Path: end, Kind: daemontest.Drop, Times: 1}, {Path: end, Kind: daemontest.Status, Times: 3},
		{Path: end, Kind: daemontest.Status, Code: 404, Times: 2}, {Path: "/health", Kind: daemontest.Status, Times: 1}}
	if a.kind != daemontest.Older { // which does not tell that it had a post whose answer was lost
		kinds = append(kinds, daemontest.Fault{Path: end, Kind: daemontest.DropAfter, Times: 1},
			daemontest.Fault{Path: end, Kind: daemontest.Garbage, Times: 1})
	}
	switch n := a.random.IntN(len(kinds) + 4); {
	case n < len(kinds):
		a.daemon.Fail(kinds[n])
	case n < len(kinds)+2:
		a.daemon.Stop()
		a.away++
	default:
		a.killWorker()
	}
	a.work(25 * time.Hour) // what waits on purpose is due
	a.work(time.Minute)    // a worker tries again soon
	a.work(time.Minute)
}

// extract ends jobs that wait, in one way or another, and lets some of those to come wait.
func (a *audit) extract() {
	ends := []string{daemontest.Completed, daemontest.Dead, daemontest.Waiting, daemontest.Skipped}
	if a.kind.Documented() {
		ends = ends[:3]
	}
	a.daemon.Extract(ends[a.random.IntN(len(ends))])
	a.daemon.Extract([...]string{daemontest.Completed, daemontest.Waiting}[a.random.IntN(2)])
}

// move makes the address at which nothing listens the daemon's old one.
func (a *audit) move() {
	n, err := a.store.Debts().Move(a.t.Context(), a.daemon.URL())
	noError(a.t, err)
	a.moves += n
}

// killWorker leaves a delivery as a worker does that was killed before its post.
func (a *audit) killWorker() {
	ctx := a.t.Context()
	if d, err := a.store.Debts().TakeUp(ctx); err == nil {
		post, err := a.store.Debts().Select(ctx, d)
		noError(a.t, err)
		noError(a.t, a.store.Debts().Attempt(ctx, d, post))
		a.kills++
	}
}

// work runs one pass of a worker after some time.
func (a *audit) work(after time.Duration) {
	a.t.Helper()
	a.now.Add(int64(after))
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	_, err := delivery.Worker{Store: a.store, Folder: a.t.TempDir(), Now: a.clock, Retention: delivery.Retention{Keep: 10000 * time.Hour},
		Like: correlation.ProcessInfo{Memory: "daemon"}, StaleAfter: 15 * time.Minute,
		Daemon: func(url string) (delivery.Daemon, error) { return delivery.Signet{Client: a.client(url)}, nil },
	}.Run(ctx, delivery.OnePass)
	noError(a.t, err)
}

var marks = regexp.MustCompile(`(?m)^(?:User: q|Assistant: a)(\d+)\.`)

// compare looks for each turn in the jobs.
func (a *audit) compare() {
	held := map[string]int{}
	for _, job := range a.daemon.Jobs() {
		for _, m := range marks.FindAllStringSubmatch(job.Text, -1) {
			held[m[1]]++
		}
	}
	rows, err := a.db.QueryContext(a.t.Context(), `SELECT substr(t.user, 2, instr(t.user, '.') - 2),
		coalesce(d.state, 'none') FROM turns t LEFT JOIN debts d ON d.id = t.daemon_delivery`)
	noError(a.t, err)
	defer rows.Close()
	states, missing, twice, unknown := map[string]int{}, 0, 0, 0
	for rows.Next() {
		var number, state string
		noError(a.t, rows.Scan(&number, &state))
		states[state]++
		switch n := held[number]; { // the question and the answer
		case n < 2 && state == string(correlation.Delivered):
			missing++
		case n > 2:
			twice++
		case n < 2 && state == string(correlation.Unknown): // a killed worker has counted as a post
			unknown++
		}
	}
	noError(a.t, rows.Err())
	a.t.Logf("%d turns, %d kills, %d absences, %d moved: %v, %d jobs; %d missing, %d twice, %d unknown", a.turns, a.kills, a.away,
		a.moves, states, len(a.daemon.Jobs()), missing, twice, unknown)
	if missing > 0 || twice > 0 || states["none"] > 0 || unknown > 0 && a.kills == 0 {
		a.t.Errorf("%d missing, %d twice, %v", missing, twice, states)
	}
	a.daemon.Extract(daemontest.Completed)
	a.work(2 * time.Hour) // keys that were never used are older than that
	a.shows()
	if left := a.daemon.Sessions(); len(left) > 0 {
		a.t.Errorf("%d sessions are live", len(left))
	}
}

// shows compares what is shown of each part, and of each delivery, with what is held.
func (a *audit) shows() {
	made := map[string]bool{}
	for _, job := range a.daemon.Jobs() {
		made[job.Key] = made[job.Key] || job.Status == daemontest.Completed
	}
	shown, err := a.store.Book().JobsIn(a.t.Context(), correlation.Scope{})
	noError(a.t, err)
	states, wrong := map[correlation.JobState]int{}, 0
	for _, jobs := range shown {
		for _, j := range jobs {
			states[j.State]++
			if j.State == correlation.JobUnknown { // it can only be asked by the name that an answer gave
				wrong += len(j.ID)
			} else if (j.State == correlation.JobExtracted) != made[j.Key] {
				wrong++
			}
		}
	}
	var miscounted int
	noError(a.t, a.db.QueryRowContext(a.t.Context(), `SELECT count(*) FROM debts d WHERE state = 'delivered'
		AND turns <> (SELECT count(*) FROM turns WHERE daemon_delivery = d.id)`).Scan(&miscounted))
	a.t.Logf("shown: %v", states)
	if wrong > 0 || miscounted > 0 || states[correlation.JobPending] > 0 {
		a.t.Errorf("%d shown as what they are not, %d miscounted, %v", wrong, miscounted, states)
	}
}
