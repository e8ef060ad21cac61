package privacy

import "testing"

func TestWithoutEcho(t *testing.T) {
	block := "<signet-memory source=\"acp-proxy\" id=\"1\">\n## Identity\nYou are Alto.\n```\nNicholas\n```\nHe " +
		"likes his tabs four spaces wide.\n</signet-memory>\n\n"
	tests := []struct{ name, text, want string }{
		{"nothing of it", "Hello.\nYou are right.\n", "Hello.\nYou are right.\n"},
		{"all of it", "I was told:\n" + block + "That is all.", "I was told:\n\nThat is all."},
		{"quoted", "> ## Identity\n> You are Alto.\nSo I am Alto.", "So I am Alto."},
		{"quoted with its blank lines", "Told:\n> ## Identity\n> You are Alto.\n> ```\n>\n> Nicholas\n>\n\nSo?", "Told:\n\nSo?"},
		{"a quotation of something else", "> Why?\n>\n> Because.\n", "> Why?\n>\n> Because.\n"},
		{"an answer of short lines", "Nicholas\n```\ncode here\n```", "Nicholas\n```\ncode here\n```"},
		{"short lines in another order", "Nicholas\nYou are Alto.\n```\n```\n", "Nicholas\nYou are Alto.\n```\n```\n"},
		{"one long line", "Well:\nHe likes his tabs four spaces wide.\nNicholas", "Well:\nNicholas"},
		{"twice", block + block, "\n\n"},
		{"within a line", "It says \"You are Alto.\" to me.", "It says \"You are Alto.\" to me."},
	}
	for _, tt := range tests {
		if got := WithoutEcho(tt.text, []string{block}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	const across = "The keel is lead.\nThe hull is white.\n"
	if got := WithoutEcho(across, []string{"The mast.\nThe keel is lead.\n", "The hull is white.\n"}); got != across {
		t.Errorf("lines of two blocks: %q", got)
	}
	if got := WithoutEcho("same", nil); got != "same" {
		t.Errorf("without blocks: %q", got)
	}
}
