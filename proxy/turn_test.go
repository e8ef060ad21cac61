package proxy

import "testing"

func TestWithoutEcho(t *testing.T) {
	block := "<signet-memory source=\"acp-proxy\" id=\"1\">\n## Identity\nYou are Alto.\n</signet-memory>\n\n"
	tests := []struct{ name, text, want string }{
		{"nothing of it", "Hello.\nYou are right.\n", "Hello.\nYou are right.\n"},
		{"all of it", "I was told:\n" + block + "That is all.", "I was told:\n\nThat is all."},
		{"quoted", "> ## Identity\n> You are Alto.\nSo I am Alto.", "So I am Alto."},
		{"within a line", "It says \"You are Alto.\" to me.", "It says \"You are Alto.\" to me."},
	}
	for _, tt := range tests {
		if got := withoutEcho(tt.text, []string{block}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := withoutEcho("same", nil); got != "same" {
		t.Errorf("without blocks: %q", got)
	}
}
