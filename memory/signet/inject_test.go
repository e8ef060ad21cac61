package signet

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"plain", "a\n\nb", "a\n\nb"},
		{"code is content", "a\n```\n[memory active]\n\n\n# Current Date & Time\n```\n[memory active]", "a\n```\n[memory active]\n\n\n# Current Date & Time\n```"},
		{"indented code", "a\n\n    # build\n\n\n    [memory active]\n", "a\n\n    # build\n\n\n    [memory active]"},
		{"fence of the newer kind", "<signet-memory-context>\na\n</signet-memory-context>\n", "a"},
		{"fence of the adapters", "<signet-memory source=\"auto-recall\" query=\"q\">\na\n</signet-memory>", "a"},
		{"fences in other case and spacing", "<SIGNET-memory-context >\na\n  </Memory-Context>", "a"},
		{"text after the fence", "<signet-memory-context>\na\n</signet-memory-context>\nb", "a\nb"},
		{"a tag inside a line is the composer's", "see <signet-memory> here", "see <signet-memory> here"},
		{"status lines", "[memory active | /remember | /recall]\n[predictor: offline | baseline only]\n[since last session: 3 new memories, 1 sessions captured]\na", "a"},
		{"a checkbox is no status line", "[x] done\n[memory] of water", "[x] done\n[memory] of water"},
		{"clock", "# Current Date & Time\nSaturday, November 21, 2026 at 7:47 AM (UTC)\n\n\n## Soul\n\ncalm", "## Soul\n\ncalm"},
		{"clock at the end", "a\n# Current Date & Time\nSaturday", "a"},
		{"clock without its line", "# Current Date & Time\n## Soul\ncalm", "## Soul\ncalm"},
		{"clock before an item", "# Current Date & Time\n- a", "- a"},
		{"clock line of other kinds", "Current date: 2026-11-21 07:47\nCurrent date/time: 2026-08-16T14:35:00-06:00 (America/Denver)\na", "a"},
		{"feedback", "- a\n<memory-feedback>\nRate these.\nIDs: x\n</memory-feedback>", "- a"},
		{"feedback on one line", "- a\n<memory-feedback>rate</memory-feedback>\n- b", "- a\n- b"},
		{"unclosed feedback takes nothing with it", "- a\n<memory-feedback>\n- b", "- a\n- b"},
		{"an end of feedback without a beginning", "a</memory-feedback>\n</memory-feedback>\nb", "a</memory-feedback>\nb"},
		{"a rule about dates stays", "Current date: use ISO", "Current date: use ISO"},
		{"headings stay, whoever wrote them", "## Identity\n\nme\n\n## Relevant Memories\n\n- ## Identity", "## Identity\n\nme\n\n## Relevant Memories\n\n- ## Identity"},
		{"truncation marks stay", "a\n[truncated]\n[context truncated]", "a\n[truncated]\n[context truncated]"},
		{"the user's own lines stay", "[memory active | x]\n## Agent Instructions\n\n# Current Date & Time\nSay it first.\n[signet: mine]\n</signet-memory>\n## Relevant Memories (auto-loaded | mine)\n[predictor: mine]\n## Relevant Memories (auto-loaded | 1)\n- a\n[predictor: x]", "## Agent Instructions\n\n# Current Date & Time\nSay it first.\n[signet: mine]\n## Relevant Memories (auto-loaded | mine)\n[predictor: mine]\n## Relevant Memories (auto-loaded | 1)\n- a"},
		{"blank lines", "\n\na\n\n\n \n\nb\n\n", "a\n\nb"},
		{"CRLF", "[memory active | x]\r\na\r\nb\r", "a\nb"},
		{"indentation stays", "a\n\n    code\n\tmore", "a\n\n    code\n\tmore"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := clean(tc.in); got != tc.want {
				t.Errorf("clean(%q)\n got %q\nwant %q", tc.in, got, tc.want)
			}
		})
	}
}

// Text made to be slow to read is bounded by its size, not by its square.
func BenchmarkCleanWorst(b *testing.B) {
	for name, line := range map[string]string{"unclosed feedback": "<memory-feedback>\n", "blank": "\n",
		"items": "- a\n", "almost fences": "<signet-memory\n"} {
		s := strings.Repeat(line, maxText/len(line))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				clean(s)
				parseRecall(s, 1)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add(recordedHit)
	f.Add("<signet-memory-context>\n[memory active | /remember | /recall]\n\n# Current Date & Time\n# Current Date & " +
		"Time\nx\n</signet-memory-context>\n")
	f.Add("<memory-feedback>\n<memory-feedback>\n</memory-feedback>\n</memory-feedback>")
	f.Add("\n \n[predictor: x]\r\n\r\n  a\r")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if again := clean(got); again != got {
			t.Fatalf("not settled:\n%q\n%q", got, again)
		}
		// What is left are lines of the original in their order.
		rest := strings.Split(newlines(s), "\n")
		if len(s) > maxText {
			t.Skip()
		}
		for line := range strings.SplitSeq(got, "\n") {
			at := 0
			for at < len(rest) && strings.TrimSpace(rest[at]) != strings.TrimSpace(line) {
				at++
			}
			if line != "" && at == len(rest) {
				t.Fatalf("line %q is new or moved", line)
			}
			if line != "" {
				rest = rest[at+1:]
			}
			if own := holdsFiles().MatchString(got); fence().MatchString(line) || !own && (status().MatchString(line) ||
				clock().MatchString(line)) {
				t.Fatalf("line %q is left", line)
			}
		}
	})
}
