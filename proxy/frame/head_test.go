package frame

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
)

const update = `{"jsonrpc":"2.0","method":"session/update",` +
	`"params":{"sessionId":"0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",` +
	`"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"and so it goes on"}}}}` + "\n"

func needUpdate([]byte) Need { return NeedSession | NeedUpdate }
func needAll([]byte) Need    { return All }

// A failer is a test, drawn ones included.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// oracle is what a full parse says of a valid frame.
func oracle(t failer, line []byte) (h Head) {
	t.Helper()
	trimmed := bytes.TrimLeft(line, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return h
	case trimmed[0] == '[':
		h.Kind = batch
		return h
	case trimmed[0] != '{':
		h.Kind = Noise
		return h
	}
	h.Kind = Object
	var top, params, update map[string]json.RawMessage
	if err := json.Unmarshal(line, &top); err != nil {
		t.Fatal(err)
	}
	text := func(raw json.RawMessage) []byte {
		var s *string
		if json.Unmarshal(raw, &s) != nil || s == nil {
			return nil
		}
		return []byte(*s)
	}
	h.Method = text(top["method"])
	h.ID = top["id"]
	_, h.Result = top["result"]
	h.Error = top["error"] != nil && string(top["error"]) != "null"
	if json.Unmarshal(top["params"], &params) == nil {
		h.Session = text(params["sessionId"])
		if json.Unmarshal(params["update"], &update) == nil {
			h.Update = text(update["sessionUpdate"])
		}
	}
	return h
}

// same compares texts as encoding/json sees them, which puts U+FFFD in place of what is no UTF-8.
func same(a, b Head) bool {
	text := func(x, y []byte) bool {
		return (x == nil) == (y == nil) && string([]rune(string(x))) == string([]rune(string(y)))
	}
	return a.Kind == b.Kind && text(a.Method, b.Method) && text(a.Session, b.Session) && text(a.Update, b.Update) &&
		(a.ID == nil) == (b.ID == nil) && bytes.Equal(a.ID, b.ID) && a.Result == b.Result && a.Error == b.Error
}

func show(h Head) string {
	b, _ := json.Marshal(map[string]any{"kind": h.Kind, "method": string(h.Method), "id": string(h.ID),
		"session": string(h.Session), "update": string(h.Update), "result": h.Result, "error": h.Error})
	return string(b)
}

var heads = []struct {
	name, line string
	want       Head
}{
	{"update", update, Head{Kind: Object, Method: []byte("session/update"),
		Session: []byte("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"), Update: []byte("agent_message_chunk")}},
	{"request", `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`,
		Head{Kind: Object, Method: []byte("session/prompt"), ID: []byte("7"), Session: []byte("s")}},
	{"method last",
		`{"params":{"update":{"content":{"sessionUpdate":"no"},"sessionUpdate":"yes"},"sessionId":"s"},"id":"a b","method":"m"}`,
		Head{Kind: Object, Method: []byte("m"), ID: []byte(`"a b"`), Session: []byte("s"), Update: []byte("yes")}},
	{"response", "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":{\"method\":\"decoy\",\"id\":2}}\r\n",
		Head{Kind: Object, ID: []byte("1.0"), Result: true}},
	{"null result", `{"id":null,"result":null}`, Head{Kind: Object, ID: []byte("null"), Result: true}},
	{"error", `{"error":{"code":-32603,"message":"}\\\"{"},"id":"\u0031"}`,
		Head{Kind: Object, ID: []byte(`"\u0031"`), Error: true}},
	{"two errors, the last one null", `{"id":1,"error":{"code":1},"\u0065rror":null}`,
		Head{Kind: Object, ID: []byte("1")}},
	{"escaped keys and values",
		`{"\u006dethod":"session\/update","p\u0061rams":{"session\u0049d":"\ud83d\ude00\ud800"}}`,
		Head{Kind: Object, Method: []byte("session/update"), Session: []byte("😀\uFFFD")}},
	{"last duplicate wins",
		`{"method":"a","params":{"sessionId":"s","update":{"sessionUpdate":"u"}},"method":"b","params":{"sessionId":"t"}}`,
		Head{Kind: Object, Method: []byte("b"), Session: []byte("t")}},
	{"last duplicate far behind",
		`{"method":"a","params":{"sessionId":"s","update":{"sessionUpdate":"u","x":"a: b"},"y":[1,2]},"p\u0061rams" : {"sessionId":"t"}}`,
		Head{Kind: Object, Method: []byte("a"), Session: []byte("t")}},
	{"last session wins", `{"method":"m","params":{"sessionId":"s","sessionId":"t"}}`, Head{Kind: Object, Method: []byte("m"), Session: []byte("t")}},
	{"last kind wins", `{"method":"m","params":{"update":{"sessionUpdate":"u","session\u0055pdat\u0065":"v"}}}`,
		Head{Kind: Object, Method: []byte("m"), Update: []byte("v")}},
	{"last update wins", `{"method":"m","params":{"update":{"sessionUpdate":"u"},"update":{}}}`, Head{Kind: Object, Method: []byte("m")}},
	{"last update is no object", `{"method":"m","params":{"update":{"sessionUpdate":"u"},"update":1}}`, Head{Kind: Object, Method: []byte("m")}},
	{"last plain id wins", `{"id":1,"method":"m","id":2}`, Head{Kind: Object, Method: []byte("m"), ID: []byte("2")}},
	{"last id wins", `{"id":1,"method":"m","i\u0064":2}`, Head{Kind: Object, Method: []byte("m"), ID: []byte("2")}},
	{"last method wins", `{"method":"a","metho\u0064":"b"}`, Head{Kind: Object, Method: []byte("b")}},
	{"last params win", `{"method":"a","params":{"sessionId":"s"},"param\u0073":{}}`, Head{Kind: Object, Method: []byte("a")}},
	{"response that is none", `{"id":1,"result":{"a":[]},"id":2,"method" :"a"}`, Head{Kind: Object, Method: []byte("a"), ID: []byte("2"), Result: true}},
	{"last duplicate is no string", `{"method":"a","method":1,"params":{"sessionId":"s"},"params":[]}`, Head{Kind: Object}},
	{"exact case", `{"Method":"a","ID":1,"Params":{"sessionId":"s"},"method":"b","params":{"sessionid":"t"}}`,
		Head{Kind: Object, Method: []byte("b")}},
	{"decoys in texts", `{"x":"\"method\":\"no\"","y":"\\","method":"m","z":["method",{"id":1}]}`,
		Head{Kind: Object, Method: []byte("m")}},
	{"white space", " \t\r{ \"method\" :\t\"m\" ,\r\"params\" : { \"sessionId\" : \"s\" } , \"id\" : 5 } \r\n",
		Head{Kind: Object, Method: []byte("m"), ID: []byte("5"), Session: []byte("s")}},
	{"empty texts", `{"method":"","params":{"sessionId":""}}`, Head{Kind: Object, Method: []byte{}, Session: []byte{}}},
	{"no UTF-8", "{\"method\":\"m\xff\",\"\xfe\":1}", Head{Kind: Object, Method: []byte("m\xff")}},
	{"empty object", `{}`, Head{Kind: Object}},
	{"batch", ` [{"method":"m"}]`, Head{Kind: batch}},
	{"primitive", "1\n", Head{Kind: Noise}},
	{"log line", "Loading model...\n", Head{Kind: Noise}},
	{"byte order mark", "\ufeff{}", Head{Kind: Noise}},
	{"nothing", "", Head{}},
	{"blank", " \t\r\n", Head{}},
}

func TestPeek(t *testing.T) {
	for _, c := range heads {
		t.Run(c.name, func(t *testing.T) {
			var h Head
			if !Peek([]byte(c.line), true, needAll, &h) {
				t.Fatal("whole, and not known")
			}
			if !same(h, c.want) {
				t.Fatalf("got  %s\nwant %s", show(h), show(c.want))
			}
			if json.Valid([]byte(c.line)) && !same(h, oracle(t, []byte(c.line))) {
				t.Fatalf("a full parse has %s", show(oracle(t, []byte(c.line))))
			}
			for need := range All + 1 {
				checkNeed(t, []byte(c.line), need, c.want)
			}
			if h.Kind == Object {
				checkBeginnings(t, []byte(c.line), All, h)
			}
		})
	}
}

// checkBeginnings peeks at every beginning of a valid line, and checks that what is known there is what the whole has.
func checkBeginnings(t failer, line []byte, need Need, whole Head) {
	t.Helper()
	for n := range len(line) + 1 {
		var h Head
		known := Peek(line[:n], false, func([]byte) Need { return need }, &h)
		if n == len(line) && !known {
			t.Fatal("not known at the end")
		}
		if known && need == All && !same(h, whole) {
			t.Fatalf("known at %d: %s", n, show(h))
		}
	}
}

// checkNeed peeks at a whole valid frame and checks that what was needed is as a full parse has it.
func checkNeed(t failer, line []byte, need Need, want Head) {
	t.Helper()
	var h Head
	if !Peek(line, true, func([]byte) Need { return need }, &h) {
		t.Fatal("whole, and not known")
	}
	got, full := Head{Kind: h.Kind, Method: h.Method}, Head{Kind: want.Kind, Method: want.Method}
	if need&NeedID != 0 {
		got.ID, full.ID = h.ID, want.ID
	}
	if need&NeedSession != 0 {
		got.Session, full.Session = h.Session, want.Session
	}
	if need&NeedUpdate != 0 {
		got.Update, full.Update = h.Update, want.Update
	}
	if need == All {
		got, full = h, want
	}
	if !same(got, full) {
		t.Fatalf("need %b in %q\ngot  %s\nwant %s", need, line, show(got), show(full))
	}
}

func TestPeekStopsEarly(t *testing.T) {
	for _, c := range []struct {
		name, line string // the bar stands where enough is known
		need       Need
		want       Head
	}{
		{"method", `{"jsonrpc":"2.0","method":"m"|,"params":{`, 0, Head{Kind: Object, Method: []byte("m")}},
		{"session", `{"method":"m","params":{"sessionId":"s"|,"update":{`, NeedSession, Head{Kind: Object, Method: []byte("m"), Session: []byte("s")}},
		{"update", `{"method":"m","params":{"sessionId":"s","update":{"sessionUpdate":"u"|,"content":`,
			NeedSession | NeedUpdate,
			Head{Kind: Object, Method: []byte("m"), Session: []byte("s"), Update: []byte("u")}},
		{"params first", `{"params":{"sessionId":"s"},"id":1,"method":"m"|,`, NeedSession | NeedID,
			Head{Kind: Object, Method: []byte("m"), ID: []byte("1"), Session: []byte("s")}},
		{"id in parts", `{"method":"m","id":12,|"x":`, NeedID, Head{Kind: Object, Method: []byte("m"), ID: []byte("12")}},
		{"no session", `{"method":"m","params":{}|,`, NeedSession, Head{Kind: Object, Method: []byte("m")}},
		{"no kind", `{"method":"m","params":{"update":{}|,`, NeedUpdate, Head{Kind: Object, Method: []byte("m")}},
		{"update no object", `{"method":"m","params":{"update":1,|`, NeedUpdate, Head{Kind: Object, Method: []byte("m")}},
		{"no params object", `{"method":"m","params":"x"|,`, NeedUpdate, Head{Kind: Object, Method: []byte("m")}},
		{"no params", `{"method":"m"}|`, NeedUpdate, Head{Kind: Object, Method: []byte("m")}},
		{"response", `{"jsonrpc":"2.0","id":3,"result":{|"a":`, NeedID, Head{Kind: Object, ID: []byte("3"), Result: true}},
		{"response, no error", `{"error":null,"result":{},"id":3}|`, NeedID,
			Head{Kind: Object, ID: []byte("3"), Result: true}},
		{"response, id last", `{"error":{"code":1},"id":3}|`, NeedID, Head{Kind: Object, ID: []byte("3"), Error: true}},
		{"first duplicate", `{"method":"m"|,"method":"n"}`, 0, Head{Kind: Object, Method: []byte("m")}},
		{"method after result", `{"result":{|},"method":"m"}`, 0, Head{Kind: Object, Result: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			enough := strings.IndexByte(c.line, '|')
			line := []byte(strings.Replace(c.line, "|", "", 1))
			for n := range len(line) + 1 {
				var h Head
				known := Peek(line[:n], false, func([]byte) Need { return c.need }, &h)
				if known != (n >= enough) {
					t.Fatalf("known is %v after %s", known, line[:n])
				}
				if known && !same(h, c.want) {
					t.Fatalf("got %s after %s", show(h), line[:n])
				}
			}
		})
	}
}

// TestPeekAsksOnce keeps frames that are all results from costing the square of their size.
func TestPeekAsksOnce(t *testing.T) {
	line := "{" + strings.Repeat(`"result":0,`, 100) + `"method":"m"}`
	var h Head
	asked := 0
	Peek([]byte(line), true, func([]byte) Need { asked++; return 0 }, &h)
	if asked != 1 || string(h.Method) != "m" {
		t.Fatalf("asked %d times for %s", asked, show(h))
	}
}

func TestPeekAllocatesNothing(t *testing.T) {
	line, h := []byte(update), new(Head)
	for _, whole := range []bool{true, false} {
		if n := testing.AllocsPerRun(100, func() { Peek(line, whole, needUpdate, h) }); n != 0 {
			t.Errorf("whole %v: %v allocations", whole, n)
		}
	}
}

func FuzzPeek(f *testing.F) {
	for _, c := range heads {
		f.Add([]byte(c.line), uint8(All))
	}
	for _, text := range realtext.Seeds(f) {
		f.Add(quoted(text), uint8(All))
	}
	f.Fuzz(func(t *testing.T, line []byte, need uint8) {
		var whole Head
		if !Peek(line, true, needAll, &whole) {
			t.Fatal("whole, and not known")
		}
		if json.Valid(line) {
			checkNeed(t, line, All, oracle(t, line))
			checkNeed(t, line, Need(need)&All, oracle(t, line))
			if whole.Kind == Object && len(line) < 1<<10 {
				checkBeginnings(t, line, Need(need)&All, whole)
			}
			return
		}
		for n := 0; n < len(line) && n < 1<<8; n++ {
			var h Head
			Peek(line[:n], false, func([]byte) Need { return Need(need) }, &h)
		}
	})
}

func benchmarkPeek(b *testing.B, line string, whole bool) {
	buf, h := []byte(line), new(Head)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if !Peek(buf, whole, needUpdate, h) {
			b.Fatal("not known")
		}
	}
}

func chunk(size int, fill string) string {
	head, tail, _ := strings.Cut(update, "and so it goes on")
	return head + strings.Repeat(fill, max(0, size-len(head)-len(tail))/len(fill)) + tail
}

func BenchmarkPeek(b *testing.B) {
	for _, c := range []struct {
		name, line string
		whole      bool
	}{
		{"200B", update, true},
		{"200B-beginning", update, false},
		{"4KB", chunk(4<<10, "x"), true},
		{"64KB", chunk(64<<10, "x"), true},
		{"64KB-quotes", chunk(64<<10, `some \"code\"\n`), true},
		{"64KB-beginning", chunk(64<<10, "x"), false},
		{"64KB-structure", strings.Replace(update, `"content"`, `"x":[`+strings.Repeat(`{"x":12,"y":[3]},`, 4000)+`0],"content"`, 1), true},
		{"64KB-structure-first", strings.Replace(update, `"params":{`, `"params":{"x":[`+strings.Repeat(`{"x":12,"y":[3]},`, 4000)+`0],`, 1), true},
		{"response", `{"jsonrpc":"2.0","id":17,"result":{"stopReason":"end_turn"}}` + "\n", true},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkPeek(b, c.line, c.whole) })
	}
}
