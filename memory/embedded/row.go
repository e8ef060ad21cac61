package embedded

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What stands in columns.
const (
	fromUser      = "user" // origins
	fromAssistant = "assistant"
	sourceTurn    = "turn" // the source of what was learned; whatever else was stored by a call
	typeSaid      = "said" // the type of the passages of conversations
)

// after scans columns before those that its user knows.
type after struct {
	sqlite.Row
	first []any
}

func (a after) Scan(dest ...any) error {
	return a.Row.Scan(append(slices.Clone(a.first), dest...)...)
}

// before scans columns after those.
type before struct {
	sqlite.Row
	last []any
}

func (b before) Scan(dest ...any) error {
	return b.Row.Scan(append(slices.Clone(dest), b.last...)...)
}

// newID begins with what is random, so that a few characters name a memory among all.
func newID() string { return strings.ToLower(rand.Text()) }

// digest names what a text says: case, white space and the stop at its end do not count.
func digest(text string) string {
	folded := strings.ToLower(strings.Join(strings.Fields(text), " "))
	sum := sha256.Sum256([]byte(strings.TrimRight(folded, ".!")))
	return hex.EncodeToString(sum[:16])
}
