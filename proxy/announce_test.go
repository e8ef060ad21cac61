package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// opensWith is an echo that answers what opens a session with a result of its own, and a prompt as ever.
func opensWith(result string) agent {
	plain := echo()
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if slices.Contains([]string{methodNew, methodLoad, methodResume, methodFork}, method(f)) {
			say(`{"jsonrpc":"2.0","id":%s,%s}`, f["id"], result)
			return
		}
		plain(f, line, say)
	}
}

func announcing(o *Options) { o.Announce, o.LookLimit = true, patience }

// A session's key stands in the result that opens it, and every other byte is the harness's.
func TestAnnounce(t *testing.T) {
	const said = `{"signet.ai":{"sessionKey":"KEY"}}`
	for _, tt := range []struct{ name, method, result, want string }{
		{"new", methodNew, `"result":{ "sessionId" : "s1" }`, `"result":{ "sessionId" : "s1" ,"_meta":` + said + `}`},
		{"load", methodLoad, `"result":{}`, `"result":{"_meta":` + said + `}`},
		{"resume", methodResume, `"result":{"a":"\u00e9"}`, `"result":{"a":"\u00e9","_meta":` + said + `}`},
		{"fork", methodFork, `"result":{"sessionId":"s2"}`, `"result":{"sessionId":"s2","_meta":` + said + `}`},
		{"null meta", methodLoad, `"result":{"_meta":null,"x":1}`, `"result":{"_meta":` + said + `,"x":1}`},
		{"a meta of theirs", methodLoad, `"result":{"_meta":{"a": 1 },"x":1}`, `"result":{"_meta":{"a": 1 ,"signet.ai":{"sessionKey":"KEY"}},"x":1}`},
		{"ours in part", methodLoad, `"result":{"_meta":{"signet.ai":{}}}`, `"result":{"_meta":` + said + `}`},
		{"said already", methodLoad, `"result":{"_meta":{"signet.ai":{"sessionKey":"other"}}}`, ``},
		{"a meta that is none", methodLoad, `"result":{"_meta":"x"}`, ``},
		{"no object", methodLoad, `"result":null`, ``},
		{"an array", methodLoad, `"result":[]`, ``},
		{"an error", methodLoad, `"error":{"code":-32002,"message":"no"}`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.start(newSource(), opensWith(tt.result), announcing)
			c.open()
			got := c.call(1, tt.method, `{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}`)
			want := tt.result
			if tt.want != "" {
				key, ok := stringAt([]byte(got), "result", "_meta", "signet.ai", "sessionKey")
				if !ok || !strings.HasPrefix(key, "acp-") {
					t.Fatalf("no key in %s", got)
				}
				want = strings.Replace(tt.want, "KEY", key, 1)
			}
			if want = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,%s}`, want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// The key that is announced is the one that the ledger has, for a new session and for one of an earlier process.
func TestAnnouncedKey(t *testing.T) {
	w := newWorld(t)
	announced := func(method, params string) string {
		t.Helper()
		c := w.start(newSource(), echo(), announcing)
		defer c.close()
		c.open()
		key, _ := stringAt([]byte(c.call(1, method, params)), "result", "_meta", "signet.ai", "sessionKey")
		c.prompt(2, "s1", "hello")
		return key
	}
	made := announced(methodNew, cwd)
	if have := w.session("echo", "s1").Key; made == "" || made != have {
		t.Errorf("announced is %q, the ledger has %q", made, have)
	}
	if loaded := announced(methodLoad, `{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}`); loaded != made {
		t.Errorf("announced is %q, was %q", loaded, made)
	}
}

// Nothing is announced unless it is asked for, about a session that is left alone, and while the database is not open.
func TestAnnounceNothing(t *testing.T) {
	const plain = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`
	stuck := func(o *Options) {
		o.Announce, o.LookLimit = true, time.Millisecond
		o.Open = func(ctx context.Context) (*Backend, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	for _, tt := range []struct {
		name, params string
		change       func(*Options)
	}{
		{"by default", cwd, func(*Options) {}},
		{"switched off", `{"cwd":"/tmp/x","mcpServers":[],"_meta":{"signet.ai":{"inject":false}}}`, announcing},
		{"opted out", cwd, func(o *Options) { announcing(o); o.Exclude = []string{"/tmp/x"} }},
		{"no database yet", cwd, stuck},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newWorld(t).start(newSource(), echo(), tt.change)
			c.open()
			if got := c.call(1, methodNew, tt.params); got != plain {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A client that asks for notices is told once what its first prompt got, before that prompt's response; nobody else is,
// and every other byte is the harness's.
func TestNotice(t *testing.T) {
	for _, tt := range []struct {
		name, capabilities, result string
		on                         bool
		want                       string
	}{
		{"asked for", `"clientCapabilities":{"session":{"notices":{}}},`, "", true, `"title":"1 memory, `},
		{"not asked for", ``, "", true, ""},
		{"null", `"clientCapabilities":{"session":{"notices":null}},`, "", true, ""},
		{"off", `"clientCapabilities":{"session":{"notices":{}}},`, "", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.start(newSource(), echo(), func(o *Options) { o.Notice = tt.on })
			c.call(0, "initialize", `{"protocolVersion":1,`+tt.capabilities+
				`"clientInfo":{"name":"tester","version":"1"}}`)
			c.call(1, "session/new", cwd)
			var notices []string
			for id := 2; id < 4; id++ {
				c.sendPrompt(id, "s1", "hello")
				for _, line := range c.until(fmt.Sprintf(`"id":%d`, id)) {
					if strings.Contains(line, `"sessionUpdate":"notice"`) {
						notices = append(notices, line)
					}
				}
			}
			c.close()
			if tt.want == "" {
				if len(notices) > 0 {
					t.Errorf("told %q", notices)
				}
				return
			}
			if len(notices) != 1 || !json.Valid([]byte(notices[0])) || !strings.Contains(notices[0], tt.want) ||
				!strings.Contains(notices[0], `"sessionId":"s1"`) || !strings.Contains(notices[0], ` B"`) {
				t.Errorf("told %q", notices)
			}
		})
	}
}
