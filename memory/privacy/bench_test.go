package privacy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the conversation pays: answers of 4 and 64 KB, this project's pages for prose and its sources for code.
func BenchmarkConversation(b *testing.B) {
	for name, pattern := range map[string]string{"prose": "../../docs/*.md", "code": "../../proxy/*.go"} {
		var text strings.Builder
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			text.Write(raw)
		}
		for _, kb := range []int{4, 64} {
			said := text.String()[:kb<<10]
			b.Run(fmt.Sprintf("%s/%dKB", name, kb), func(b *testing.B) {
				b.SetBytes(int64(len(said)))
				for b.Loop() {
					Redact(said)
				}
			})
		}
	}
}
