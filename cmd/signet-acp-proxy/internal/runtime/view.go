package runtime

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/view"
)

// Page returns what the page is made from.
func (d *Data) Page(f config.Flags) view.Source {
	about := view.About{
		Database: d.Config.DB, Log: d.Log.path, Settings: filepath.Join(d.Config.SignetPath, "agent.yaml"),
		Retention: kept(d.Config.Retention),
	}
	if d.Config.Memory == "daemon" || d.Config.Memory == "auto" {
		about.Daemon = d.Config.DaemonURL
	}
	for _, flag := range []struct{ name, value string }{{"--signet-path", f.SignetPath}, {"--db", f.DB}} {
		if flag.value != "" {
			about.Flags += " " + flag.name + " " + chars.ShellWord(flag.value)
		}
	}
	return view.Source{DB: d.DB, Sessions: d.Sessions.Book(), Memories: d.Memories, About: about,
		Delegations: Ledger(d.Config, d.DB)}
}

// kept says in words how long turns are kept.
func kept(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return "until they are delivered"
	case d < 2*day:
		return d.String()
	}
	return fmt.Sprintf("%d days", d/day)
}

// OpenInBrowser has the desktop open a file or an address, and does not wait for it.
func OpenInBrowser(target string) error {
	var cmd *exec.Cmd
	switch {
	case runtime.GOOS == "darwin":
		cmd = exec.Command("open", target)
	case runtime.GOOS == "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", target)
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return errors.New("there is no desktop here")
	default:
		cmd = exec.Command("xdg-open", target)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
