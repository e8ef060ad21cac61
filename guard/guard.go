// Package guard keeps the mistakes of memory out of the conversation: work that runs in it may panic, and then that
// piece of work ends, and nothing else. All goroutines but those of the two pumps start here, and the pumps do
// here what is not copying.
//
// Who waits for guarded work hears of its end by a deferred call, and a lock that it takes is released by one. What Go
// cannot catch is not caught: fatal errors of the runtime, as of a map that two goroutines write, and panics in
// goroutines that a library has started.
package guard

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrPanicked is the error of work that has panicked; it has been reported.
var ErrPanicked = errors.New("a mistake in this program ended that work")

// A Panic is what a report has of a panic. Nothing in it is a value of the work, which may be what somebody said.
type Panic struct {
	Work  string   // what was being done
	What  string   // the runtime's own words, or the type of any other value
	Where string   // the file and line of ours
	Stack []string // functions and lines, the innermost first
}

var reports atomic.Pointer[func(Panic)]

// Report has f hear of every panic, in the goroutine that has had it. As long as nobody hears of them panics are not
// caught: they end the process, as in a test.
func Report(f func(Panic)) { reports.Store(&f) }

// Go does work in a goroutine of its own.
func Go(work string, f func()) { go Run(work, f) }

// Func returns work that is guarded: for what a timer or a context begins.
func Func(work string, f func()) func() { return func() { Run(work, f) } }

// Try is Run for work with an error, which is ErrPanicked when it panics.
func Try(work string, f func() error) error {
	err := ErrPanicked
	Run(work, func() { err = f() })
	return err
}

// Run does work here, and reports whether it has come to its end.
func Run(work string, f func()) (done bool) {
	defer func() {
		report := reports.Load()
		if done || report == nil {
			return
		}
		if value := recover(); value != nil {
			defer func() { _ = recover() }() // a mistake in the report has nobody left to tell
			(*report)(found(work, value))
		}
	}()
	f()
	return true
}

// A Group is a sync.WaitGroup of guarded work.
type Group struct{ running sync.WaitGroup }

// Go does work in a goroutine that Wait joins.
func (g *Group) Go(work string, f func()) { g.running.Go(func() { Run(work, f) }) }

// Wait joins the goroutines.
func (g *Group) Wait() { g.running.Wait() }

const module = "github.com/Signet-AI/signet-acp-proxy/"

// found describes the panic that the calling deferred function has recovered from.
func found(work string, value any) Panic {
	p := Panic{Work: work, What: fmt.Sprintf("%T", value)}
	if err, ok := value.(runtime.Error); ok {
		p.What = err.Error()
	}
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for began := false; ; {
		f, more := frames.Next()
		if began {
			line := fmt.Sprintf("%s:%d", path.Join(folderOf(f.Function), path.Base(f.File)), f.Line)
			p.Stack = append(p.Stack, f.Function+" "+line)
			if p.Where == "" && strings.HasPrefix(f.Function, module) {
				p.Where = line
			}
		}
		if began = began || f.Function == "runtime.gopanic"; !more {
			return p
		}
	}
}

// folderOf returns the folder of a function's package, of ours without the module's name.
func folderOf(function string) string {
	dir, name := path.Split(function)
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimPrefix(dir+name, module)
}
