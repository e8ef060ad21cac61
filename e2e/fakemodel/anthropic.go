package fakemodel

import (
	"fmt"
	"sync/atomic"
)

// messages counts what was said: Claude Code takes messages of one id for parts of one.
var messages atomic.Int64

var anthropic = api{
	name: "anthropic",
	read: func(body map[string]any, r *Request) {
		r.message("system", texts(body["system"]))
		for _, m := range list(body["messages"]) {
			content := object(m)["content"]
			r.message(str(object(m)["role"]), texts(content))
			r.Result = false
			for _, block := range list(content) {
				r.Result = r.Result || str(object(block)["type"]) == "tool_result"
			}
		}
		for _, t := range list(body["tools"]) {
			r.tool(str(object(t)["name"]))
		}
	},
	write: func(w *writer, reply Reply) {
		usage := map[string]any{"input_tokens": reply.used(), "output_tokens": 5}
		block := map[string]any{"type": "text", "text": reply.Text}
		empty := map[string]any{"type": "text", "text": ""}
		delta := map[string]any{"type": "text_delta", "text": reply.Text}
		stop := "end_turn"
		if reply.Tool != "" {
			id := "toolu" + newCall()
			block = map[string]any{"type": "tool_use", "id": id, "name": reply.Tool, "input": reply.Args}
			empty = map[string]any{"type": "tool_use", "id": id, "name": reply.Tool, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": arguments(reply.Args)}
			stop = "tool_use"
		}
		message := map[string]any{
			"id": fmt.Sprintf("msg_%d", messages.Add(1)), "type": "message", "role": "assistant", "model": "fake-model",
			"content":     []any{block},
			"stop_reason": stop, "stop_sequence": nil, "usage": usage,
		}
		if !w.stream {
			w.whole(message)
			return
		}
		message["content"], message["stop_reason"] = []any{}, nil
		w.event("message_start", map[string]any{"type": "message_start", "message": message})
		w.event("content_block_start", map[string]any{"type": "content_block_start", "index": 0,
			"content_block": empty})
		w.event("content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": delta})
		w.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": 0})
		w.event("message_delta", map[string]any{"type": "message_delta",
			"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
		w.event("message_stop", map[string]any{"type": "message_stop"})
	},
}
