package embedded

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Values of columns.
const (
	fromUser      = "user"      // origin
	fromAssistant = "assistant" // origin
	sourceTurn    = "turn"      // source of what was learned from turns; any other source is a call
	typeSaid      = "said"      // type of the passages of conversations
)

// leadingColumns scans the first columns of a row itself, and leaves the rest to a scan function that does not know
// them.
type leadingColumns struct {
	sqlite.Row
	first []any
}

func (a leadingColumns) Scan(dest ...any) error {
	return a.Row.Scan(append(slices.Clone(a.first), dest...)...)
}

// trailingColumns scans the last columns of a row itself.
type trailingColumns struct {
	sqlite.Row
	last []any
}

func (b trailingColumns) Scan(dest ...any) error {
	return b.Row.Scan(append(slices.Clone(dest), b.last...)...)
}

// newID returns a random id, so that its first few characters tell it from all others.
func newID() string { return strings.ToLower(rand.Text()) }

// digest identifies what a text says, whatever its case, white space and final full stop.
func digest(text string) string {
	folded := strings.ToLower(strings.Join(strings.Fields(text), " "))
	sum := sha256.Sum256([]byte(strings.TrimRight(folded, ".!")))
	return hex.EncodeToString(sum[:16])
}
