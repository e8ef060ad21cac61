package fakemodel

import "strings"

// The bodies are read loosely: harnesses of many versions send them, and a test asks for little.

func list(v any) []any { l, _ := v.([]any); return l }

func object(v any) map[string]any { o, _ := v.(map[string]any); return o }

func str(v any) string { s, _ := v.(string); return s }

// Texts are the texts of a content that is a string or a list of blocks.
func texts(content any) []string {
	if s, ok := content.(string); ok {
		return []string{s}
	}
	var all []string
	for _, block := range list(content) {
		if s, ok := object(block)["text"].(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// Message notes one message of a conversation under its role.
func (r *Request) message(role string, texts []string) {
	if len(texts) == 0 {
		return
	}
	switch role {
	case "user":
		r.User = append(r.User, texts...)
	case "system", "developer":
		r.System += strings.Join(texts, "\n") + "\n"
	}
}

func (r *Request) tool(name string) {
	if name != "" {
		r.Tools = append(r.Tools, name)
	}
}
