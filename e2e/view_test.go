package e2e

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// A live page says where it is and nothing else, shows what is there, and ends well when it is interrupted.
func TestViewLive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.run(proxyBin, "memory", "add", "The mast of the Curlew is 11.42 metres long.")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := b.Command(ctx, nil, proxyBin, "view", "--live", "--no-open")
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	must(b, err)
	answer, err := http.Get(strings.TrimSpace(address))
	must(b, err)
	page, err := io.ReadAll(answer.Body)
	must(b, err)
	answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(page), "mast of the Curlew") {
		t.Errorf("%s: %s\n%.500s", address, answer.Status, page)
	}
	must(b, cmd.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(lines)
	must(b, err)
	if len(rest) > 0 {
		t.Errorf("it also printed %q", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
}
