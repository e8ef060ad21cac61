package fakemodel

import (
	"fmt"
	"strings"
)

var chat = api{
	name: "chat",
	read: func(body map[string]any, r *Request) {
		for _, m := range list(body["messages"]) {
			role := str(object(m)["role"])
			r.message(role, texts(object(m)["content"]))
			r.Result = role == "tool"
		}
		for _, t := range list(body["tools"]) {
			r.tool(str(object(object(t)["function"])["name"]))
		}
	},
	write: func(w *writer, reply Reply) {
		message := map[string]any{"role": "assistant", "content": reply.Text}
		finish := "stop"
		if reply.Tool != "" {
			call := map[string]any{"name": reply.Tool, "arguments": arguments(reply.Args)}
			message = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
				map[string]any{"index": 0, "id": "call" + newCall(), "type": "function", "function": call},
			}}
			finish = "tool_calls"
		}
		usage := map[string]any{"prompt_tokens": reply.used(), "completion_tokens": 5, "total_tokens": reply.used() + 5}
		envelope := map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "created": 1,
			"model": "fake-model", "usage": usage}
		if !w.stream {
			envelope["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}
			w.whole(envelope)
			return
		}
		envelope["object"] = "chat.completion.chunk"
		envelope["choices"] = []any{map[string]any{"index": 0, "delta": message, "finish_reason": nil}}
		w.event("", envelope)
		envelope["choices"] = []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}
		w.event("", envelope)
		fmt.Fprint(w.w, "data: [DONE]\n\n")
	},
}

var responses = api{
	name: "responses",
	read: func(body map[string]any, r *Request) {
		r.message("system", texts(body["instructions"]))
		if s, ok := body["input"].(string); ok {
			r.message("user", []string{s})
		}
		for _, item := range list(body["input"]) {
			m := object(item)
			r.message(str(m["role"]), texts(m["content"]))
			r.Result = str(m["type"]) == "function_call_output"
		}
		for _, t := range list(body["tools"]) {
			name := str(object(t)["name"])
			r.tool(name)
			for _, inner := range list(object(t)["tools"]) { // codex: an MCP server is a namespace of tools
				r.tool(name + "/" + str(object(inner)["name"]))
			}
		}
	},
	write: func(w *writer, reply Reply) {
		item := map[string]any{
			"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": reply.Text, "annotations": []any{}}},
		}
		if reply.Tool != "" {
			namespace, name, found := strings.Cut(reply.Tool, "/")
			if !found {
				namespace, name = "", reply.Tool
			}
			item = map[string]any{"type": "function_call", "id": "fc" + newCall(), "call_id": "call" + newCall(),
				"name": name, "arguments": arguments(reply.Args), "status": "completed"}
			if found {
				item["namespace"] = namespace
			}
		}
		response := map[string]any{
			"id": "resp_1", "object": "response", "created_at": 1, "model": "fake-model", "status": "completed",
			"output": []any{item},
			"usage": map[string]any{
				"input_tokens": reply.used(), "output_tokens": 5, "total_tokens": reply.used() + 5,
				"input_tokens_details":  map[string]any{"cached_tokens": 0},
				"output_tokens_details": map[string]any{"reasoning_tokens": 0},
			},
		}
		if !w.stream {
			w.whole(response)
			return
		}
		begun := map[string]any{"id": "resp_1", "object": "response", "created_at": 1, "model": "fake-model",
			"status": "in_progress", "output": []any{}}
		w.event("response.created", map[string]any{"type": "response.created", "sequence_number": 0, "response": begun})
		w.event("response.output_item.added", map[string]any{"type": "response.output_item.added", "sequence_number": 1,
			"output_index": 0, "item": item})
		if reply.Tool == "" {
			w.event("response.output_text.delta", map[string]any{
				"type": "response.output_text.delta", "sequence_number": 2, "item_id": "msg_1", "output_index": 0,
				"content_index": 0, "delta": reply.Text,
			})
		}
		w.event("response.output_item.done", map[string]any{"type": "response.output_item.done", "sequence_number": 3,
			"output_index": 0, "item": item})
		w.event("response.completed", map[string]any{"type": "response.completed",
			"sequence_number": 4, "response": response})
	},
}
