package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// A growth measures the proxy with much of something: sessions on a connection, processes beside each other, turns in
// a conversation, sessions in the database.
type growth struct {
	box     *sandbox.Sandbox
	command []string
	proxy   string
}

// A moment is what each part of a conversation took.
type moment struct {
	start, open, first, later, update, end time.Duration
	private                                int64 // bytes at the end
}

const (
	manySessions  = 1000
	manyProcesses = 64
	manyTurns     = 10_000
	updates       = 2000 // of updateSize bytes, in a turn; the time of one is asked for
	updateSize    = 300
	last          = 20 // of a series, whose median is shown
)

func (g growth) run(ctx context.Context, sessions int) error {
	// as people have it: a prompt waits for its context no longer than by default
	g.box.Env = slices.DeleteFunc(g.box.Env, func(v string) bool { return strings.HasPrefix(v, "SIGNET_ACP_") })
	text, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(text), " ")
	fmt.Printf("commit %s, %s, %d CPUs, %s/%s, load %s\n\n", commit(), time.Now().Format(time.DateOnly),
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, load)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tstart\tsession/new\tfirst prompt\tlater prompt\tupdate\tend\tprivate MiB\t")
	row := func(what string, m moment, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%v\t%v\t%v\t%.1f\t\n", what, short(m.start), short(m.open), short(m.first),
			short(m.later), short(m.update), short(m.end), float64(m.private)/(1<<20))
		return nil
	}
	for n := 1; n <= manySessions; n *= 10 {
		m, err := g.converse(ctx, n, 1)
		if err := row(fmt.Sprintf("%d sessions on a connection", n), m, err); err != nil {
			return err
		}
	}
	for n := 1; n <= manyProcesses; n *= 8 {
		m, err := g.beside(ctx, n)
		if err := row(fmt.Sprintf("%d proxies beside each other", n), m, err); err != nil {
			return err
		}
	}
	for n := 1; n <= manyTurns; n *= 100 {
		m, err := g.converse(ctx, 1, n)
		if err := row(fmt.Sprintf("%d turns in a session", n), m, err); err != nil {
			return err
		}
	}
	var commands strings.Builder
	for n := min(1000, sessions); ; n = min(10*n, sessions) {
		fmt.Fprintf(&commands, "\n%d sessions\tCPU\twall\tpeak MiB\twritten MiB\t\n", n)
		if err := g.commands(ctx, &commands, n); err != nil {
			return err
		}
		m, err := g.converse(ctx, 1, last)
		if err := row(fmt.Sprintf("%d sessions in the database", n), m, err); err != nil {
			return err
		}
		if n == sessions {
			fmt.Fprint(w, commands.String())
			return w.Flush()
		}
	}
}

// commands writes what commands take once so many sessions are in the database, and what it takes to bring them there:
// of three runs the one in the middle. Prune only lists.
func (g growth) commands(ctx context.Context, w io.Writer, sessions int) error {
	row := func(what string, s spent) {
		fmt.Fprintf(w, "%s\t%v\t%v\t%.0f\t%.0f\t\n", what, short(s.cpu), short(s.wall), float64(s.peak)/(1<<20),
			float64(s.written)/(1<<20))
	}
	taken, err := fill(ctx, g.box, g.proxy, sessions)
	if err != nil {
		return err
	}
	row("memory backfill", taken)
	last := fmt.Sprintf("s-%d", sessions-1)
	for _, command := range []string{"log " + last, "show " + last, "sessions", "usage", "usage --by day", "doctor",
		"prune --keep 10", "memory list", "memory search w10x w200x server", "view --no-open"} {
		runs := make([]spent, 3)
		for i := range runs {
			if runs[i], err = run(ctx, g.box, append([]string{g.proxy}, strings.Fields(command)...)...); err != nil {
				return err
			}
		}
		slices.SortFunc(runs, func(a, b spent) int { return cmp.Compare(a.cpu, b.cpu) })
		row(command, runs[1])
	}
	return nil
}

// beside has so many conversations at once, each in a process of its own, and returns the median of each part.
func (g growth) beside(ctx context.Context, processes int) (moment, error) {
	moments, errs := make([]moment, processes), make([]error, processes)
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() { moments[i], errs[i] = g.converse(ctx, 1, last) })
	}
	all.Wait()
	return middle(moments), errors.Join(errs...)
}

// middle returns the median of each part.
func middle(moments []moment) (m moment) {
	of := func(part func(moment) time.Duration) time.Duration {
		times := make([]time.Duration, len(moments))
		for i, m := range moments {
			times[i] = part(m)
		}
		slices.Sort(times)
		return times[len(times)/2]
	}
	m.start = of(func(m moment) time.Duration { return m.start })
	m.open = of(func(m moment) time.Duration { return m.open })
	m.first = of(func(m moment) time.Duration { return m.first })
	m.later = of(func(m moment) time.Duration { return m.later })
	m.update = of(func(m moment) time.Duration { return m.update })
	m.end = of(func(m moment) time.Duration { return m.end })
	for _, one := range moments {
		m.private += one.private / int64(len(moments))
	}
	return m
}

// converse starts a process and opens sessions in it, each with a first prompt; the last of them has the turns. Of each
// series the median of the last is given.
func (g growth) converse(ctx context.Context, sessions, turns int) (m moment, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := g.box.Command(ctx, nil, g.command...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return m, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return m, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return m, err
	}
	c := &client{in: in, out: bufio.NewReaderSize(out, 1<<20), pid: cmd.Process.Pid}
	m, err = c.grow(began, g.box.Work, sessions, turns)
	began = time.Now()
	in.Close()
	if err == nil {
		_, err = io.Copy(io.Discard, out)
	} else {
		cancel()
	}
	err = errors.Join(err, cmd.Wait())
	m.end = time.Since(began)
	return m, err
}

func (c *client) grow(began time.Time, cwd string, sessions, turns int) (m moment, err error) {
	if _, err := c.call("initialize", `{"protocolVersion":1,"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		return m, err
	}
	m.start = time.Since(began)
	var opens, firsts, laters []time.Duration
	timed := func(into *[]time.Duration, do func() error) {
		if err == nil {
			began := time.Now()
			err = do()
			*into = append(*into, time.Since(began))
		}
	}
	for range sessions {
		timed(&opens, func() error { return c.open(cwd) })
		timed(&firsts, func() error { return c.ask("Which day is the staging server deployed on?") })
	}
	for n := range turns {
		timed(&laters, func() error { return c.ask(fmt.Sprintf("And what about server %d?", n)) })
	}
	if err != nil {
		return m, err
	}
	took, err := c.down(updates, updateSize, true)
	m.open, m.first, m.later, m.update = lately(opens), lately(firsts), lately(laters), took/updates
	m.private = usageOf(c.pid).private
	return m, err
}

// lately returns the median of the last of a series.
func lately(times []time.Duration) time.Duration {
	times = slices.Sorted(slices.Values(times[max(0, len(times)-last):]))
	return times[len(times)/2]
}
