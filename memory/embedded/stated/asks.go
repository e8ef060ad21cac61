package stated

import "github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

// AsksMemory reports whether a prompt asks what is remembered: "what do you know about me?".
func AsksMemory(prompt string) bool {
	return len(prompt) <= shortPrompt && ofMemory.In(language.PlainOf(prompt))
}
