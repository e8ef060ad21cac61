package cli

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func TestHelpFitsNarrowScreens(t *testing.T) {
	for _, width := range []int{80, 100, 132, 200} {
		for line := range strings.Lines(settingsHelp(width)) {
			if n := term.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns on a screen of %d: %s", n, width, line)
			}
		}
	}
	if narrow := settingsHelp(80); strings.Contains(narrow, "SIGNET_ACP_HOLD") ||
		!strings.Contains(narrow, "SIGNET_ACP_ and the name in capitals") {
		t.Errorf("80 columns have no room for the names of variables:\n%s", narrow)
	}
}
