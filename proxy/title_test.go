package proxy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// What a harness calls a session is kept, the last that it said, without our block, secrets and what was private.
func TestTitle(t *testing.T) {
	title := func(text string) string {
		return update("s1", `{"sessionUpdate":"session_info_update","title":`+text+`}`)
	}
	for name, tt := range map[string]struct {
		said []string
		want string
	}{
		"none":      {nil, ""},
		"null":      {[]string{title("null")}, ""},
		"plain":     {[]string{title(`"The mast of the  Curlew\n"`)}, "The mast of the Curlew"},
		"the last":  {[]string{title(`"One"`), title(`"Two"`), title(`"Two"`)}, "Two"},
		"ours":      {[]string{title("BLOCK")}, "hello"},
		"private":   {[]string{title(`"About CANARY-Xy99Zq and masts"`)}, "About [private] and masts"},
		"a secret":  {[]string{title(`"use AKIAIOSFODNN7EXAMPLX"`)}, "use [redacted:aws]"},
		"of others": {[]string{update("s2", `{"sessionUpdate":"session_info_update","title":"Two"}`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := echo()
			c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				if method(f) == "session/prompt" {
					at, _ := frame.Find(line, "params", "prompt")
					for _, said := range tt.said {
						for block := range frame.Elements(line, at) { // the first is ours
							text, _ := frame.Find(block.Of(line), "text")
							said = strings.ReplaceAll(said, "BLOCK", string(text.Of(block.Of(line))))
							break
						}
						say("%s", said)
					}
				}
				e(f, line, say)
			})
			c.open()
			c.call(1, "session/new", cwd)
			w.awaitFetch(c, "s1")
			c.prompt(2, "s1", "hello <private>CANARY-Xy99Zq</private>")
			c.close()
			var got string
			if err := w.db.QueryRow(`SELECT title FROM sessions WHERE acp_id = 's1'`).Scan(&got); err != nil ||
				got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// In a delegation the task is what is kept and searched for, and the title: not our words around it, nor the harness's.
func TestDelegatedPrompt(t *testing.T) {
	w := newWorld(t)
	e, mem := echo(), newSource()
	c := w.start(mem, func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) == "session/prompt" {
			say("%s", update("s1", `{"sessionUpdate":"session_info_update","title":"Delegated to you"}`))
		}
		e(f, line, say)
	}, func(o *Options) {
		o.Delegation = "01M80NBSRTFAV0S21ENPW2PM13"
		o.Task = func(prompt string) string { return strings.TrimSuffix(prompt, " WORDING") }
	})
	c.open()
	c.call(1, "session/new", cwd)
	w.awaitFetch(c, "s1")
	task := "Look at the mast."
	c.prompt(2, "s1", task+" WORDING")
	c.close()
	var user, title, delegation string
	if err := w.db.QueryRow(`SELECT t.user, s.title, t.delegation FROM turns t JOIN sessions s ON s.id = t.session`).
		Scan(&user, &title, &delegation); err != nil {
		t.Fatal(err)
	}
	if user != task || title != "" || delegation != "01M80NBSRTFAV0S21ENPW2PM13" ||
		len(mem.recalls) != 1 || mem.recalls[0] != task {
		t.Errorf("kept %q, title %q, of %q, searched for %q", user, title, delegation, mem.recalls)
	}
}
