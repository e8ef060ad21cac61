package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// A peer is a client that speaks to the proxy in front of echoagent, one request at a time.
type peer struct {
	*box
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Scanner
	id  int

	end func() // hangs up and waits for the proxy
}

// connect starts the proxy in front of a harness: echoagent, if none is named.
func (b *box) connect(harness ...string) *peer {
	b.t.Helper()
	if harness == nil {
		harness = []string{echoBin, "-list"}
	}
	return b.connectAs("harness", harness...)
}

// connectAs is connect for a harness that the proxy knows by a name.
func (b *box) connectAs(name string, harness ...string) *peer {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b.t.Cleanup(cancel)
	cmd := b.Command(ctx, nil,
		append([]string{proxyBin, "--memory", "embedded", "--agent", name, "--"}, harness...)...)
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	p := &peer{box: b, cmd: cmd, in: json.NewEncoder(in), out: bufio.NewScanner(out)}
	p.out.Buffer(nil, 16<<20)
	p.end = func() {
		b.t.Helper()
		in.Close()
		for p.out.Scan() {
		}
		must(b, cmd.Wait())
	}
	p.call("initialize", map[string]any{"protocolVersion": 1})
	return p
}

// call sends a request and returns its result, and the frames that came before it.
func (p *peer) call(method string, params map[string]any) (result json.RawMessage, before []string) {
	p.t.Helper()
	p.id++
	must(p.box, p.in.Encode(map[string]any{"jsonrpc": "2.0", "id": p.id, "method": method, "params": params}))
	for p.out.Scan() {
		var frame struct {
			ID            *int
			Result, Error json.RawMessage
		}
		must(p.box, json.Unmarshal(p.out.Bytes(), &frame))
		if frame.ID == nil || *frame.ID != p.id {
			before = append(before, p.out.Text())
			continue
		}
		if frame.Error != nil {
			p.t.Fatalf("%s: %s", method, frame.Error)
		}
		return frame.Result, before
	}
	p.t.Fatalf("%s: the connection ended (%v)", method, p.out.Err())
	return nil, nil
}

func (p *peer) prompt(session, text string) (before []string) {
	p.t.Helper()
	_, before = p.call("session/prompt", map[string]any{"sessionId": session,
		"prompt": []any{map[string]string{"type": "text", "text": text}}})
	return before
}

// However a harness shows its history, titles included, nothing of ours is in it, and the person's words are.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"own", "glued", "space", "newline"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("ECHOAGENT_REPLAY="+form, "ECHOAGENT_TERSE=1", "ECHOAGENT_TITLE=1")
			session := map[string]any{"cwd": b.Work, "mcpServers": []any{}}

			p := b.connect()
			result, _ := p.call("session/new", session)
			var opened struct{ SessionID string }
			must(b, json.Unmarshal(result, &opened))
			said := p.prompt(opened.SessionID, "My own words.")
			p.end()

			p = b.connect()
			session["sessionId"] = opened.SessionID
			_, shown := p.call("session/load", session)
			listed, _ := p.call("session/list", map[string]any{})
			again := p.prompt(opened.SessionID, "More words.")
			p.end()

			if n := b.received(opened.SessionID).contexts(); n != 1 {
				t.Errorf("the harness was given %d contexts, want 1", n)
			}
			everything := strings.Join(append(append(said, append(shown, again...)...), string(listed)), "\n")
			if strings.Contains(everything, "signet-memory") || strings.Contains(everything, "Halyard") {
				t.Errorf("our block was shown to the client:\n%s", everything)
			}
			var users []string
			for _, frame := range shown {
				var u struct {
					Params struct {
						Update struct {
							SessionUpdate string
							Content       struct{ Text string }
						}
					}
				}
				must(b, json.Unmarshal([]byte(frame), &u))
				if u.Params.Update.SessionUpdate == "user_message_chunk" {
					users = append(users, u.Params.Update.Content.Text)
				}
			}
			if got := fmt.Sprint(users); got != "[My own words.]" {
				t.Errorf("the history shows %q", users)
			}
			if !strings.Contains(string(listed), `"title":"My own words."`) {
				t.Errorf("the list has no title of the person's: %s", listed)
			}
		})
	}
}
