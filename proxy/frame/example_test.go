package frame_test

import (
	"bytes"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// A prompt gets a block in front, and every other byte stays as it came.
func Example() {
	line := []byte(`{"jsonrpc": "2.0","id":1e0, "method":"session/prompt",` +
		`"params":{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}}`)
	var h frame.Head
	need := func([]byte) frame.Need { return frame.NeedID | frame.NeedSession }
	if frame.Peek(line, true, need, &h) && string(h.Method) == "session/prompt" {
		block := []byte(`{"type":"text","text":"You know Ines."}`)
		prompt, _ := frame.Find(line, "params", "prompt")
		if parts, ok := frame.PrependParts(line, block, prompt); ok {
			line = bytes.Join(parts, nil)
		}
	}
	fmt.Printf("%s, session %s, id %s\n%s\n", h.Method, h.Session, h.ID, line)
	// Output:
	// session/prompt, session s, id 1e0
	// {"jsonrpc": "2.0","id":1e0, "method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"You know Ines."},{"type":"text","text":"Hi"}]}}
}
