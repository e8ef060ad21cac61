package fakemodel

var gemini = api{
	name: "gemini",
	read: func(body map[string]any, r *Request) {
		r.message("system", texts(object(body["systemInstruction"])["parts"]))
		for _, c := range list(body["contents"]) {
			parts := object(c)["parts"]
			r.message(str(object(c)["role"]), texts(parts))
			r.Result = false
			for _, p := range list(parts) {
				r.Result = r.Result || object(p)["functionResponse"] != nil
			}
		}
		for _, t := range list(body["tools"]) {
			for _, f := range list(object(t)["functionDeclarations"]) {
				r.tool(str(object(f)["name"]))
			}
		}
	},
	write: func(w *writer, reply Reply) {
		part := map[string]any{"text": reply.Text}
		if reply.Tool != "" {
			part = map[string]any{"functionCall": map[string]any{"id": "call" + newCall(),
				"name": reply.Tool, "args": reply.Args}}
		}
		response := map[string]any{
			"candidates": []any{map[string]any{
				"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{part}},
			}},
			"usageMetadata": map[string]any{"promptTokenCount": reply.used(), "candidatesTokenCount": 5,
				"totalTokenCount": reply.used() + 5},
			"modelVersion": "fake-model",
		}
		if w.stream {
			w.event("", response)
			return
		}
		w.whole(response)
	},
}
