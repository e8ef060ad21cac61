package privacy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// pair looks for a secret where a "value" begins at at, whose name stands before it: - name: DB_PASSWORD, value: x, as
// Kubernetes and others write their settings.
func (f *findings) pair(text string, at int) {
	before, after := text[max(0, at-maxPair):at], text[at+len("value"):min(len(text), at+maxValue)]
	if !strings.Contains(before, "ame") && !strings.Contains(before, "ey") {
		return
	}
	name, value := pairName().FindStringSubmatch(before), pairValue().FindStringSubmatchIndex(after)
	if name == nil || value == nil {
		return
	}
	n, ok := secretName(name[1], "")
	for g := 2; ok && g < len(value); g += 2 {
		if value[g] < 0 {
			continue
		}
		from := at + len("value")
		a := assignment{n, after[value[g]:value[g+1]], g < 6, "=", false}
		if a.isSecret() {
			f.add(from+value[g], from+value[g+1], a.kind())
		}
	}
}

const maxPair = 128 // bytes between a name and the word "value"

var (
	pairName  = pattern.New(`(?i)\b(?:name|key)["']?\s{0,4}[:=]\s{0,4}["']?([\w.-]{1,80})["']?,?\s{0,40}-?\s?["']?$`)
	pairValue = pattern.New(`^["']?\s{0,4}[:=]\s{0,4}(?:"([^"\n]+)"|'([^'\n]+)'|([^\s,}"']+))`)
)
