package proxy

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

func announcing(o *Options) { o.Announce = true }

// A session's key stands in the result that opens it, and every other byte is the harness's. Nothing is announced unless
// it is asked for, about a session that is left alone, and while nobody knows the key.
func TestAnnounce(t *testing.T) {
	const said = `{"signet.ai":{"sessionKey":"KEY"}}`
	type test struct {
		name, method, result, want string
		change                     func(*Options)
	}
	tests := []test{
		{"new", methodNew, `"result":{ "sessionId" : "s2" }`, `"result":{ "sessionId" : "s2" ,"_meta":` + said + `}`, announcing},
		{"load", methodLoad, `"result":{}`, `"result":{"_meta":` + said + `}`, announcing},
		{"resume", methodResume, `"result":{"a":"\u00e9"}`, `"result":{"a":"\u00e9","_meta":` + said + `}`, announcing},
		{"fork", methodFork, `"result":{"sessionId":"s2"}`, `"result":{"sessionId":"s2","_meta":` + said + `}`, announcing},
		{"said already", methodLoad, `"result":{"_meta":{"signet.ai":{"sessionKey":"other"}}}`, ``, announcing},
		{"null", methodLoad, `"result":null`, ``, announcing},
		{"an array", methodLoad, `"result":[]`, ``, announcing},
		{"an error", methodLoad, `"error":{"code":-32002,"message":"no"}`, ``, announcing},
		{"by default", methodNew, `"result":{"sessionId":"s2"}`, ``, func(*Options) {}},
		{"opted out", methodNew, `"result":{"sessionId":"s2"}`, ``, func(o *Options) { announcing(o); o.Exclude = []string{"/tmp/x"} }},
		{"no database yet", methodNew, `"result":{"sessionId":"s2"}`, ``, func(o *Options) { o.Announce, o.HoldLimit = true, lookShare*time.Millisecond }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := newQuiet(t, remembering(newSource()), tt.change)
			if tt.name == "no database yet" {
				q.database.opened = make(chan struct{})
				q.database.backend.Store(nil)
			}
			q.sends(t, `{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`","params":`+loadParams("s0")+`}`)
			got := q.says(t, `{"jsonrpc":"2.0","id":1,`+tt.result+`}`)
			key, _ := stringAt([]byte(got), "result", "_meta", "signet.ai", "sessionKey")
			if (tt.method == methodLoad || tt.method == methodResume) && tt.want != "" && key != "acp-0" {
				t.Errorf("the key of s0 is %q", key)
			}
			want := strings.Replace(cmp.Or(tt.want, tt.result), "KEY", key, 1)
			if want = `{"jsonrpc":"2.0","id":1,` + want + `}`; got != want || tt.want != "" && !strings.HasPrefix(key, "acp-") {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A client that asks for notices is told once what its first prompt got, before that prompt's response; nobody else is.
func TestNotice(t *testing.T) {
	for _, tt := range []struct {
		name, capabilities string
		on                 bool
		items              int
		size               int
		want               string
	}{
		{"asked for", `{"session":{"notices":{}}}`, true, 1, 999, "1 memory, 999 B"},
		{"many", `{"session":{"notices":{}}}`, true, 2, 1000, "2 memories, 1.0 KB"},
		{"none", `{"session":{"notices":{}}}`, true, 0, 1250, "identity, 1.2 KB"},
		{"not asked for", `{}`, true, 1, 9, ""},
		{"null", `{"session":{"notices":null}}`, true, 1, 9, ""},
		{"off", `{"session":{"notices":{}}}`, false, 1, 9, ""},
	} {
		q := newQuiet(t, func(o *Options) { o.Notice = tt.on })
		q.sends(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":`+
			tt.capabilities+`}}`)
		in := &session.Injection{Injection: correlation.Injection{
			Kind: session.KindContext, Bytes: tt.size, Items: make([]string, tt.items),
		}}
		got := string(q.down.notice(session.Request{Session: q.one, Injection: in}))
		want := ""
		if tt.want != "" {
			want = update("s1", `{"sessionUpdate":"notice","severity":"info","title":"`+tt.want+
				`","description":"Inserted by signet-acp-proxy."}`) + "\n"
		}
		if got != want {
			t.Errorf("%s: told %s", tt.name, got)
		}
		in.Kind = session.KindMemories
		if got := q.down.notice(session.Request{Session: q.one, Injection: in}); got != nil {
			t.Errorf("%s: of memories told %s", tt.name, got)
		}
	}
	q := newQuiet(t, remembering(newSource()), func(o *Options) { o.Notice = true })
	q.sends(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientCapabilities":{"session":{"notices":{}}}}}`, upNew)
	q.says(t, strings.Replace(downNew, "s1", "s2", 1))
	q.sends(t, strings.Replace(upHello, "s1", "s2", 1))
	if got := q.says(t, downEnd); !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2"`) ||
		!strings.HasSuffix(got, "\n"+downEnd[:len(downEnd)-1]+"\n") {
		t.Errorf("told %s", got)
	}
}
