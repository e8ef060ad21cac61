//go:build harnesses

package harnesses

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Two conversations by acpx: one says something, the other asks about it, goes on in a new process, and is watched.
func TestAcpx(t *testing.T) {
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) {
			s := h.stage(t, nil)
			s.say("exec", "The mast of the Curlew is 11.42 metres long.")
			s.alone()
			s.remembers("mast of the Curlew is 11.42")
			s.say("sessions", "new")
			s.alone()
			s.say("How long is the mast of the Curlew?")
			s.alone()
			first := asked(s.model, "How long is the mast")
			s.check("first prompt: identity", strings.Contains(first, "You are Halyard"),
				"the model was asked\n%s", first)
			s.check("… a memory of another session", strings.Contains(first, "11.42"), "the model was asked\n%s", first)
			s.aged()
			s.say("And its boom?")
			s.alone()
			last := asked(s.model, "And its boom?")
			s.check("session loaded in a new process", strings.Contains(last, "How long is the mast"),
				"the model was asked\n%s", last)
			s.check("… once, also in the next process",
				strings.Count(first, mark) == 1 && strings.Count(last, mark) == 1, "%d and %d contexts", strings.Count(first, mark), strings.Count(last, mark))
			s.watch("And its boom?")
			s.alone()
			s.check("acpx exec, sessions", !mentioned(t, filepath.Join(s.Home, ".acpx")), "acpx's files hold our block")
		})
	}
}

// watch follows a session of acpx until it has shown the words.
func (s stage) watch(words string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	out := filepath.Join(s.Dir, "watched")
	file, err := os.Create(out)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	cmd := s.Command(ctx, nil, slices.Concat(s.acpx, []string{"--format", "json", s.agent, "sessions", "watch"})...)
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	seen := func() string {
		text, err := os.ReadFile(out)
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	}
	for ctx.Err() == nil && !strings.Contains(seen(), words) {
		time.Sleep(50 * time.Millisecond)
	}
	_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
	_ = cmd.Wait()                         // by that
	shown := seen()
	s.check("acpx sessions watch", strings.Contains(shown, words) && !strings.Contains(shown, strings.TrimSpace(mark)),
		"shown was\n%.3000s", shown)
}

// A session that an application shares with acpx's command line gets its context once, and so does one of a flow.
func TestAcpxApplications(t *testing.T) {
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) {
			s := h.stage(t, nil)
			script, err := s.clients.Script("acpx/dist/runtime.js")
			if err != nil {
				t.Fatal(err)
			}
			shared, err := filepath.Abs(filepath.Join("testdata", "shared.mjs"))
			if err != nil {
				t.Fatal(err)
			}
			s.say("sessions", "new", "--name", "shared")
			s.alone()
			s.say("-s", "shared", "How long is the mast of the Curlew?")
			s.alone()
			s.aged()
			s.run(script[0], shared, script[1], s.agent, strings.Join(s.throughProxy(), " "),
				"And its boom?")
			s.alone()
			last := asked(s.model, "And its boom?")
			s.check("acpx shared session", strings.Contains(last, "How long is the mast") && strings.Count(last, mark) == 1,
				"%d contexts in\n%s", strings.Count(last, mark), last)

			flow, err := filepath.Abs(filepath.Join("testdata", "two.flow.mjs"))
			if err != nil {
				t.Fatal(err)
			}
			if s.byMinute {
				s.Env = append(s.Env, "SIGNET_BY_MINUTE=1")
			}
			s.run(slices.Concat(s.acpx, []string{"flow", "run", flow, "--default-agent", s.agent})...)
			s.alone()
			last = asked(s.model, "And its sail?")
			s.check("acpx flow", strings.Contains(last, "Who made the sail") && strings.Count(last, mark) == 1,
				"%d contexts in\n%s", strings.Count(last, mark), last)
		})
	}
}
