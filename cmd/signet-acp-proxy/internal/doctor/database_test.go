package doctor

import (
	"errors"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// A file that is too large for the time is not said to be damaged.
func TestCheckFile(t *testing.T) {
	db, _, remove := correlationtest.Open()
	defer remove()
	if err := checkFile(t.Context(), db, time.Minute); err != nil {
		t.Errorf("a whole file: %v", err)
	}
	if err := checkFile(t.Context(), db, 0); !errors.Is(err, errNotChecked) {
		t.Errorf("without any time: %v, want %v", err, errNotChecked)
	}
}
