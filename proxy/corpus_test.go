package proxy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A corpus makes frames of every sort, spelled in every way, the same each time.
type corpus struct{ *rand.Rand }

func (c corpus) of(choices ...string) string { return choices[c.IntN(len(choices))] }

// text is a JSON string, rarely a large one.
func (c corpus) text() string {
	s := c.of(`hello`, ``, `\u0048ello\/ \ud83d\ude00 \ud800`, `<>&\u003c`, `é😀`, "\xff\xfe",
		`\"method\":\"session/prompt\"`, `say \u003csignet-memory`, strings.Repeat(`\r\n`, 50))
	if c.IntN(60) == 0 {
		s += strings.Repeat("large ", c.IntN(60_000))
	}
	return `"` + s + `"`
}

func (c corpus) value() string {
	return c.of(c.text(), `null`, `{}`, `[]`, `1.0`, `-0`, `1e400`, `123456789012345678901234567890`,
		`[1,[2,{"a":{}}]]`, `{"id":1,"method":"session/prompt","result":0}`)
}

func (c corpus) space() string { return c.of("", "", "", " ", "\t", "  ") }

// object spells an object with its members in any order, and some that nobody knows.
func (c corpus) object(members ...string) string {
	for range c.IntN(3) {
		members = append(members, `"`+c.of("x", "_meta", "Method", "jsonrpc", "\\u0061", "extra")+`"`+c.space()+`:`+
			c.value())
	}
	if c.IntN(3) == 0 {
		c.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	return c.space() + "{" + c.space() + strings.Join(members, c.space()+","+c.space()) + c.space() + "}" + c.space()
}

func (c corpus) id() string {
	return `"id":` + c.of(fmt.Sprint(100+c.IntN(40)), `"one"`, `"\u006fne"`, `null`, `-1`, `1.0`, `9007199254740993`)
}

func (c corpus) session() string {
	return `"sessionId":` + c.of(`"s1"`, `"s1"`, `"s\u0031"`, `"unknown"`, `null`, `7`)
}

func (c corpus) end() string { return c.of("\n", "\n", "\n", "\n", "\r\n") }

// up is a frame of a client's that nobody may change: session requests already carry a server of our name.
func (c corpus) up() string {
	const server = `"mcpServers":[{"name":"signet","command":"/bin/true","args":[],"env":[]}]`
	switch c.IntN(12) {
	case 0:
		return c.object(c.id(), c.of(`"result":`, `"error":`)+c.value()) + c.end()
	case 1:
		return "[" + c.object(c.id(), `"method":"session/prompt"`, `"params":`+c.object(c.session())) + "," +
			c.value() + "]" + c.end()
	case 2:
		return c.of("", "{", `{"jsonrpc":"2.0","method":"session/prompt"`, "no JSON", "1", "[", "\x00", "\ufeff{}") +
			c.end()
	case 3:
		return c.object(c.id(), `"method":"`+c.of("session/load", "session/resume", "session/fork", "session/new")+`"`,
			`"params":`+c.object(`"sessionId":"other"`, `"cwd":"/srv"`, server)) + c.end()
	case 4:
		return c.object(`"method":"`+c.of("session/cancel", "$/cancel_request")+`"`,
			`"params":`+c.object(c.session(), `"requestId":`+c.value())) + c.end()
	default:
		method := c.of("session/set_mode", "session/set_model", "session/list", "session/close", "authenticate", "_x/y",
			"", "m\\u0065thod", "document/didChange")
		return c.object(c.id(), `"method":"`+method+`"`, `"params":`+c.object(`"sessionId":"other"`,
			`"data":`+c.value())) + c.end()
	}
}

// down is a frame of a harness's.
func (c corpus) down() string {
	switch c.IntN(10) {
	case 0, 1:
		return c.object(c.id(),
			c.of(`"result":`, `"error":`)+c.object(c.of(`"sessionId":"s9"`, `"stopReason":"end_turn"`,
				`"sessions":[{"sessionId":"s1","title":"t"}]`, `"code":-32603`))) + c.end()
	case 2:
		return c.object(c.id(), c.of(`"result":`, `"error":`)+c.value()) + c.end()
	case 3:
		return "[" + c.object(c.id(), `"result":`+c.value()) + "]" + c.end()
	case 4:
		return c.of("", "{", "[", `{"jsonrpc":"2.0","method":"session/update"`, `{"id":100,"result":{`) + c.end()
	case 5:
		return c.object(c.id(), `"method":"`+c.of("session/request_permission", "fs/read_text_file", "terminal/create",
			"elicitation/create")+`"`,
			`"params":`+c.object(c.session(), `"x":`+c.value())) + c.end()
	default:
		kind := c.of(updateMessage, updateMessage, updateMessage, updateTool, updateToolMore, updateUser, updateInfo,
			updateCommands, updateCompact, updateSummary,
			"agent_thought_chunk", "notice", "state_update", "agent_m\\u0065ssage_chunk", "")
		return c.object(`"method":"session/update"`, `"params":`+c.object(c.session(),
			`"update":`+c.object(`"sessionUpdate":"`+kind+`"`, `"content":`+
				c.object(`"type":"text"`, `"text":`+c.text()), `"title":`+c.value()))) + c.end()
	}
}

// Thousands of frames of every sort arrive both ways at once, in pieces of any size: every byte is there but for the
// one block.
func TestEveryByteArrives(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c, h := w.scripted()
			c.openFor(h)

			chance := corpus{rand.New(rand.NewPCG(seed, 7))}
			var up, down strings.Builder
			for range 1500 {
				up.WriteString(chance.up())
				down.WriteString(chance.down())
			}
			frames := up.String()
			got := c.collect()
			said := make(chan struct{})
			go func() {
				defer close(said)
				inPieces(down.String(), rand.New(rand.NewPCG(seed, 8)), h.say)
			}()
			sizes := rand.New(rand.NewPCG(seed, 9))
			inPieces(frames+upHello, sizes, c.write)
			h.await(`"text":"hello"}]}}`) // a cancel behind it would take the block out again
			inPieces(frames, sizes, c.write)
			<-said
			if err := c.in.Close(); err != nil {
				t.Fatal(err)
			}
			same(t, "the harness was sent", withoutBlock(t, h.heard.all(t)), upInit+upNew+frames+upHello+frames)
			h.die()
			same(t, "the client got", got.all(t), down.String())
			if talk := c.talk.String(); talk != "" {
				t.Errorf("people were told %s", clip(talk))
			}
		})
	}
}

// inPieces says text in pieces of any size.
func inPieces(text string, chance *rand.Rand, say func(string)) {
	for len(text) > 0 {
		n := min(len(text), 1+chance.IntN(1<<(1+chance.IntN(18))))
		say(text[:n])
		text = text[n:]
	}
}

// withoutBlock takes the one block of ours out of what a harness was sent. On a machine that is too busy to claim the
// session in time there is none.
func withoutBlock(t *testing.T, sent string) string {
	t.Helper()
	const begin = `{"type":"text","text":"<signet-memory `
	head, tail, found := strings.Cut(sent, begin)
	if !found {
		t.Log("the prompt went out as it came")
		return sent
	}
	d := json.NewDecoder(strings.NewReader(begin + tail))
	var block json.RawMessage
	if err := d.Decode(&block); err != nil {
		t.Fatal(err)
	}
	return head + strings.TrimPrefix((begin + tail)[d.InputOffset():], ",")
}
