package guard

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

// hear collects the panics of a test.
func hear(t *testing.T) (heard func() []Panic) {
	var mu sync.Mutex
	var all []Panic
	Report(func(p Panic) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, p)
	})
	t.Cleanup(func() { reports.Store(nil) })
	return func() []Panic {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func TestRun(t *testing.T) {
	heard := hear(t)
	var none []int
	var group Group
	group.Go("ours", func() { _ = none[len(none)] })
	group.Wait()
	if Run("theirs", func() { panic("what somebody said") }) {
		t.Error("work that panics has come to its end")
	}
	if !Run("fine", func() {}) {
		t.Error("work that does not panic has not come to its end")
	}
	if err := Try("asked", func() error { panic(errors.New("what somebody said")) }); !errors.Is(err, ErrPanicked) {
		t.Errorf("its error is %v", err)
	}
	wrong := errors.New("wrong")
	if err := Try("asked", func() error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("its error is %v", err)
	}
	all := heard()
	if len(all) != 3 {
		t.Fatalf("%d panics were reported, not 3", len(all))
	}
	for i, want := range []Panic{
		{Work: "ours", What: "runtime error: index out of range [0] with length 0"},
		{Work: "theirs", What: "string"}, {Work: "asked", What: "*errors.errorString"},
	} {
		got := all[i]
		if got.Work != want.Work || got.What != want.What || !strings.HasPrefix(got.Where, "guard/guard_test.go:") {
			t.Errorf("%+v", got)
		}
		if stack := strings.Join(got.Stack, "\n"); !strings.Contains(stack, "guard.TestRun") ||
			strings.Contains(stack, "somebody") {
			t.Errorf("the stack is %s", stack)
		}
	}
}

// A mistake in the report ends nothing either.
func TestReportPanics(t *testing.T) {
	Report(func(Panic) { panic("again") })
	t.Cleanup(func() { reports.Store(nil) })
	if Run("work", func() { panic("first") }) {
		t.Error("work that panics has come to its end")
	}
}

// Nobody hears of a mistake in a test, so there it ends the test.
func TestUnheard(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was caught, and nobody was told")
		}
	}()
	Run("work", func() { panic("first") })
}
