package install

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
)

// maxLine is the longest message, in bytes; an inserted context has 24 KB at most.
const maxLine = 1 << 20

// Echo is an ACP agent on in and out, with one session, that repeats each prompt.
func Echo(in io.Reader, out io.Writer) error {
	session := rand.Text()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Prompt []content `json:"prompt"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil {
			continue // a notification, or nothing for us
		}
		var result any = struct{}{}
		switch request.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": 1, "agentCapabilities": struct{}{},
				"agentInfo": map[string]string{"name": "echo", "version": "1"}}
		case "session/new":
			result = map[string]string{"sessionId": session}
		case "session/prompt":
			for _, block := range request.Params.Prompt {
				update := map[string]any{"sessionUpdate": "agent_message_chunk", "content": content{"text", block.Text}}
				if err := write(out, map[string]any{"jsonrpc": "2.0", "method": "session/update",
					"params": map[string]any{"sessionId": session, "update": update}}); err != nil {
					return err
				}
			}
			result = map[string]string{"stopReason": "end_turn"}
		}
		if err := write(out, map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": result}); err != nil {
			return err
		}
	}
	return lines.Err()
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func write(out io.Writer, message any) error {
	line, err := json.Marshal(message)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", line)
	}
	return err
}
