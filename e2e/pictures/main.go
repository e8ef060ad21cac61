// Command pictures looks at the page that `signet-acp-proxy view` writes, in the Chromium that is on the PATH: it takes
// pictures of each part, light, dark and narrow, and measures how long the page takes to open and to search. It fails
// where axe-core finds anything, where a request would leave the page, or where stored HTML does anything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/npm"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/view/viewtest"
)

func main() {
	proxy := flag.String("proxy", "bin/signet-acp-proxy", "the program")
	out := flag.String("out", "dist/pictures", "where pictures go")
	into := flag.String("into", "", "where the two pictures go that README has; empty: they are not taken")
	flag.Parse()
	if err := run(*proxy, *out, *into); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// browsers are the names that Chromium has.
var browsers = []string{"chromium", "chromium-browser", "chromium-headless-shell", "google-chrome",
	"google-chrome-stable"}

var errNoBrowser = errors.New("there is no Chromium on the PATH: on Debian and Ubuntu `apt-get install chromium`, on " +
	"Fedora `dnf install chromium`, on macOS `brew install --cask chromium`; or name one in CHROMIUM")

func browser() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

func run(proxy, out, into string) error {
	chromium, err := browser()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if _, err := npm.Install(ctx, "e2e/pictures"); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "signet-pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	small, err := page(ctx, proxy, filepath.Join(home, "small"), viewtest.Sample{Turns: 180, Memories: 40})
	if err != nil {
		return err
	}
	large, err := page(ctx, proxy, filepath.Join(home, "large"), viewtest.Sample{Turns: 10_000, Memories: 10_000})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "node", "e2e/pictures/look.mjs", chromium, proxy, small, large, out,
		into)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// page has the program write a page of a sample.
func page(ctx context.Context, proxy, home string, s viewtest.Sample) (string, error) {
	db, err := migrations.Open(ctx, filepath.Join(home, "acp", "sessions.db"))
	if err != nil {
		return "", err
	}
	s.Now = time.Now()
	if err := errors.Join(s.Fill(ctx, db), db.Close()); err != nil {
		return "", err
	}
	file := filepath.Join(home, "view.html")
	began := time.Now()
	cmd := exec.CommandContext(ctx, proxy, "view", "--no-open", "--out", file, "--signet-path", home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("view: %w\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	fmt.Printf("%d turns, %d memories: written in %d ms, %.1f MB\n", s.Turns, s.Memories,
		time.Since(began).Milliseconds(), float64(info.Size())/1e6)
	return file, nil
}
