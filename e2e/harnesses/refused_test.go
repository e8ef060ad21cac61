//go:build harnesses

package harnesses

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where nobody is logged in, codex refuses, and acpx begins nothing else in the session's place: the context comes with
// the prompt after the login.
func TestLogin(t *testing.T) {
	s := named("codex").stage(t, nil)
	config, login := filepath.Join(s.Home, ".codex", "config.toml"), filepath.Join(s.Home, ".codex", "auth.json")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(string(text), `env_key = "FAKE_KEY"`, "requires_openai_auth = true", 1)
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(config, own)
	write(login, `{"OPENAI_API_KEY":"none"}`)
	s.say("sessions", "new")
	s.alone()
	if err := os.Remove(login); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	refused, err := s.Run(ctx, nil, slices.Concat(s.acpx, []string{s.agent, "How long is the mast of the Curlew?"})...)
	if err != nil {
		t.Fatal(err)
	}
	s.alone()
	write(login, `{"OPENAI_API_KEY":"none"}`)
	s.say("And its boom?")
	s.alone()
	last := asked(s.model, "And its boom?")
	s.check("context after a login", refused.Code != 0 && strings.Count(last, mark) == 1,
		"refused with %d: %s%s\nthen %d contexts in\n%s", refused.Code, refused.Stdout, refused.Stderr,
		strings.Count(last, mark), last)
}

// What codex warns of before its first answer is none of its words.
func TestNotice(t *testing.T) {
	const warning = "Model metadata for"
	s := named("codex").stage(t, nil)
	w := s.connect(true, "")
	_, session := w.open(s.Work, "")
	w.prompt(session, "How long is the mast of the Curlew?")
	w.hangUp()
	shown, kept := strings.Join(w.seen, ""), s.run(s.proxy, "log", session)
	s.check("notices are no words", strings.Contains(shown, warning) && strings.Contains(kept, "mast of the Curlew") &&
		!strings.Contains(kept, warning), "shown was\n%s\nand kept\n%s", shown, kept)
	s.alone()
}

// A list that is asked for while a session is being made shows no block of ours.
func TestListBeside(t *testing.T) {
	for _, h := range harnesses {
		if h.name == "gemini" { // has no list
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			s := h.stage(t, nil)
			w := s.connect(true, "")
			_, session := w.open(s.Work, "")
			w.prompt(session, "How long is the mast of the Curlew?")
			w.hangUp()
			w = s.connect(true, "")
			w.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
			made := w.begin("session/new", map[string]any{"cwd": s.Work, "mcpServers": []any{}})
			asked := w.begin("session/list", map[string]any{"cwd": s.Work})
			listed := string(w.await(asked))
			w.await(made)
			w.hangUp()
			s.check("list while a session is made", strings.Contains(listed, session) &&
				!strings.Contains(listed, mark[1:len(mark)-1]) && !strings.Contains(listed, "Halyard"), "listed:\n%s", listed)
			s.alone()
		})
	}
}

// The doctor finds all of them, and each answers it.
func TestDoctor(t *testing.T) {
	s := harnesses[0].stage(t, nil)
	for _, h := range harnesses[1:] {
		s.beside(h.name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := s.Run(ctx, nil, s.proxy, "doctor", "--json")
	if err != nil {
		t.Fatal(err)
	}
	type finding struct{ Check, Text string }
	var found []finding
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
		t.Fatalf("%v\n%s%s", err, r.Stdout, r.Stderr)
	}
	for _, h := range harnesses {
		answers := slices.ContainsFunc(found, func(f finding) bool {
			return f.Check == "harness" && strings.HasPrefix(f.Text, h.name) && strings.Contains(f.Text, " speaks ACP after ")
		})
		s.harness = h
		s.check("doctor", answers, "it found\n%s", r.Stdout)
	}
	s.alone()
}
