package passage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What stands before a call is narration; what stands behind the last is the result.
func TestParts(t *testing.T) {
	plan := strings.Repeat("First the mast, then the keel. ", 10)
	for _, c := range []struct {
		name, user, answer string
		tools              bool
		want               []Part
	}{
		{"talk", "And the mast?", "It holds.", false, []Part{{"And the mast?", 0, memory.Typed}, {"It holds.", 0, memory.Agent}}},
		{"work", "Mend it.", "I look.\f\n\nI saw.\f\n\nIt is mended.", true, []Part{{"Mend it.", Works, memory.Typed},
			{"I look.\nI saw.", Works | Narrates, memory.Agent}, {"It is mended.", Works, memory.Agent}}},
		{"a long log", "It broke:\n```\n" + strings.Repeat("a", 3000) + strings.Repeat("b", 3000) + "\n```\nWhy?", "", false,
			[]Part{{"It broke:", 0, memory.Typed}, {"```\n" + strings.Repeat("a", 2044) + "\n" + strings.Repeat("b", 2044) +
				"\n```", 0, memory.Pasted}, {"Why?", 0, memory.Typed}}},
		{"broken off", "Mend it.", "I look.\f", false, []Part{{"Mend it.", Works, memory.Typed},
			{"I look.", Works | Narrates, memory.Agent}}},
		{"an answer of 400 bytes", "Why?", strings.Repeat("a", 400), false, []Part{{"Why?", 0, memory.Typed},
			{strings.Repeat("a", 400), 0, memory.Agent}}},
		{"four times as long", strings.Repeat("a", 101), strings.Repeat("a", 404), false, []Part{
			{strings.Repeat("a", 101), 0, memory.Typed}, {strings.Repeat("a", 404), 0, memory.Agent}}},
		{"longer than that", strings.Repeat("a", 101), strings.Repeat("a", 405), false, []Part{
			{strings.Repeat("a", 101), Works, memory.Typed}, {strings.Repeat("a", 405), Works, memory.Agent}}},
		{"short, and longer than that", "Why?", "Because it was.", false, []Part{{"Why?", 0, memory.Typed}, {"Because it was.", 0, memory.Agent}}},
		{"calls that nobody reported", "Mend it.", plan + plan, false, []Part{{"Mend it.", Works, memory.Typed},
			{strings.TrimSpace(plan + plan), Works, memory.Agent}}},
	} {
		if diff := cmp.Diff(c.want, Parts(c.user, c.answer, c.tools)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
