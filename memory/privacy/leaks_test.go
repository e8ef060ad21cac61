package privacy

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/leaks"
)

// shows reports whether text still has the secret, or a half of a long one.
func shows(text, secret string) bool {
	text, secret = visible(text), visible(secret)
	half := len(secret) / 2
	return strings.Contains(text, secret) ||
		len(secret) >= 20 && (strings.Contains(text, secret[:half]) || strings.Contains(text, secret[half:]))
}

// Of secrets in their surroundings nine in ten are found, whole, streamed and after Neutralise; those behind glue as
// often as bare ones.
func TestLeaks(t *testing.T) {
	bare, glued := leaks.Corpus(33)
	kinds, r := map[string]bool{}, rand.New(rand.NewPCG(33, 1))
	missed := func(l leaks.Leak) bool {
		kinds[l.Kind] = true
		return shows(Redact(l.Text), l.Secret) || shows(Redact(Neutralise(l.Text)), l.Secret) ||
			shows(streamed(l.Text, nil, func() int { return 1 + r.IntN(12) }), l.Secret)
	}
	count := func(list []leaks.Leak) (n int) {
		for _, l := range list {
			if missed(l) {
				n++
				t.Logf("missed: %s, %s %s: %q", l.Kind, l.Where, l.Glue, Redact(l.Text))
			}
		}
		return n
	}
	n := count(bare)
	t.Logf("%d of %d of %d kinds found", len(bare)-n, len(bare), len(kinds))
	if len(bare) < 200 || len(kinds) < 60 || 10*n > len(bare) {
		t.Errorf("%d of %d missed", n, len(bare))
	}
	for name, list := range glued {
		if n := count(list); n > 2 { // one in a hundred looks like words
			t.Errorf("behind %s: %d of %d missed", name, n, len(list))
		}
	}
}

// A long word in which a key may begin again and again costs as much a byte as a shorter one: were it quadratic, eight
// times as long would take 64 times as long, however often it is tried.
func TestManyBeginnings(t *testing.T) {
	for _, begins := range []string{"eyJ", "AKIA", "sk-", "xAIza", "name:value:", "pass:b|", "glpat-x\n"} {
		cost := func(size int) time.Duration {
			text, began := strings.Repeat(begins, size/len(begins)), time.Now()
			Redact(text)
			return time.Since(began)
		}
		short, long := cost(4<<10), cost(32<<10)
		for tries := 0; tries < 20 && long > 40*short; tries++ { // on a busy machine one may be held up
			short, long = cost(4<<10), cost(32<<10)
		}
		if long > 40*short {
			t.Errorf("%q: %v for 4 KB, %v for 32 KB", begins, short, long)
		}
	}
}
