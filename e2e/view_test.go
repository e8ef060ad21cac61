package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// openPage serves the page, and returns what serves it, what it says further, and the address.
func (b *box) openPage(flags ...string) (cmd *exec.Cmd, lines *bufio.Reader, address string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	b.t.Cleanup(cancel)
	cmd = b.Command(ctx, nil, append([]string{b.program(), "view", "--live"}, flags...)...)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	lines = bufio.NewReader(out)
	address, err = lines.ReadString('\n')
	must(b, err)
	return cmd, lines, strings.TrimSpace(address)
}

// browse opens the printed address as a browser does, and returns that browser and where it is then.
func browse(b *box, address string) (browser *http.Client, page *url.URL) {
	b.t.Helper()
	jar, err := cookiejar.New(nil)
	must(b, err)
	browser = &http.Client{Jar: jar}
	first, err := browser.Get(address)
	must(b, err)
	must(b, first.Body.Close())
	return browser, first.Request.URL
}

// A live page says where it is and nothing else, shows what is there, and ends well when it is interrupted.
func TestViewLive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.run(proxyBin, "memory", "add", "The mast of the Curlew is 11.42 metres long.")
	cmd, lines, address := b.openPage("--no-open")
	// What ends nothing: loads that stop in the middle, whoever has no token and does not wait, a broken pipe.
	browser, page := browse(b, address)
	host, cookie := page.Host, browser.Jar.Cookies(page)[0].String()
	for _, request := range []string{
		"GET " + page.Path + " HTTP/1.1\r\nHost: " + host + "\r\nCookie: " + cookie + "\r\n\r\n",
		strings.Repeat("GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n", 100),
	} {
		for range 20 {
			c, err := net.Dial("tcp", host)
			must(b, err)
			_, _ = c.Write([]byte(request)) // it may hang up
			must(b, c.(*net.TCPConn).SetLinger(0))
			must(b, c.Close())
		}
	}
	must(b, cmd.Process.Signal(syscall.SIGPIPE))
	answer, err := browser.Get(page.JoinPath("parts/memories").String())
	must(b, err)
	memories, err := io.ReadAll(answer.Body)
	must(b, err)
	answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(memories), "mast of the Curlew") {
		t.Errorf("%s: %s\n%.500s", page, answer.Status, memories)
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

// A follower is told of what happens while it looks on.
func TestEventsFollow(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.connect([]string{"--memory", "embedded"}, echoBin)
	id := c.talk("My own words.")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	follower := b.Command(ctx, nil, proxyBin, "events", id, "--follow", "--json")
	out, err := follower.StdoutPipe()
	must(b, err)
	must(b, follower.Start())
	lines := bufio.NewScanner(out)
	until := func(turn int) {
		for lines.Scan() {
			var e struct {
				Kind string
				Turn int
			}
			must(b, json.Unmarshal(lines.Bytes(), &e))
			if e.Kind == "turn_ended" && e.Turn == turn {
				return
			}
		}
		t.Fatalf("turn %d did not end: %v", turn, lines.Err())
	}
	until(1)
	c.say(id, "More words.")
	until(2)
	must(b, follower.Process.Kill())
	_ = follower.Wait()
	c.end()
}
