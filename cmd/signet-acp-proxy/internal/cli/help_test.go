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
	const variable, rule = "SIGNET_ACP_HOLD ", "SIGNET_ACP_ and the name in capitals"
	if narrow := settingsHelp(80); strings.Contains(narrow, variable) || !strings.Contains(narrow, rule) {
		t.Errorf("80 columns have no room for the names of variables:\n%s", narrow)
	}
	if wide := settingsHelp(150); !strings.Contains(wide, variable) ||
		!strings.Contains(wide, "(auto, daemon, embedded, off)") || strings.Contains(wide, "()") {
		t.Errorf("150 columns have:\n%s", wide)
	}
}
