package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// terminalCmd runs a command on a terminal, types an answer to each of its questions, and leaves what came in the file
// screen:
//
//	terminal 80 y n -- signet-acp-proxy forget sess-0f5
func terminalCmd(ts *testscript.TestScript, neg bool, args []string) {
	i := slices.Index(args, "--")
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	text, code := onTerminal(ts, columns, args[1:i], args[i+1:])
	ts.Check(os.WriteFile(ts.MkAbs("screen"), []byte(text), 0o600))
	if neg != (code != 0) {
		ts.Fatalf("exit %d:\n%s", code, text)
	}
}

// question ends every question of ours.
const question = "[y/N] "

func onTerminal(ts *testscript.TestScript, columns int, answers, command []string) (text string, code int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	if found := ts.Getenv("PATH"); !strings.Contains(command[0], "/") {
		for _, dir := range filepath.SplitList(found) {
			if path := filepath.Join(dir, command[0]); executable(path) {
				cmd.Path, cmd.Err = path, nil
				break
			}
		}
	}
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "OURS", "TZ", "TERM", "NO_COLOR", "PAGER", "WORK", "SIGNET_PATH",
		"SIGNET_PORT", "SIGNET_ACP_HOLD", "TESTSCRIPT_COMMAND", "TMPDIR", "GORACE"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: uint16(columns)})
	ts.Check(err)
	defer terminal.Close()
	var all bytes.Buffer
	b := make([]byte, 4096)
	for {
		n, err := terminal.Read(b)
		all.Write(b[:n])
		if bytes.HasSuffix(all.Bytes(), []byte(question)) {
			answer := "\x04" // the end of input
			if len(answers) > 0 {
				answer, answers = answers[0]+"\n", answers[1:]
			}
			_, err := io.WriteString(terminal, answer)
			ts.Check(err)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) { // nobody has it open any more
			break
		}
		ts.Check(err)
	}
	_ = cmd.Wait()
	if len(answers) > 0 {
		ts.Fatalf("nobody asked for %q:\n%s", answers, all.String())
	}
	return strings.ReplaceAll(all.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0 && !info.IsDir()
}

// aloneCmd leaves nothing on PATH but our own programs.
func aloneCmd(ts *testscript.TestScript, _ bool, _ []string) {
	ours, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator))
	ts.Setenv("PATH", ours)
}

// screensCmd compares how a command looks on screens of several widths, without colours, and in a pipe, with a file of
// testdata/screens, which -update writes:
//
//	screens sessions signet-acp-proxy sessions
func screensCmd(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	for _, columns := range []int{50, 80, 200} {
		text, _ := onTerminal(ts, columns, nil, args[1:])
		text = seen(text)
		for line := range strings.Lines(text) {
			if n := term.Width(strings.TrimSuffix(colour.ReplaceAllString(line, ""), "\n")); n > columns {
				ts.Fatalf("%s: %d columns on a screen of %d: %s", args[0], n, columns, line)
			}
		}
		fmt.Fprintf(&b, "-- %d columns --\n%s", columns, text)
	}
	ts.Setenv("NO_COLOR", "1")
	text, _ := onTerminal(ts, 80, nil, args[1:])
	ts.Setenv("NO_COLOR", "")
	fmt.Fprintf(&b, "-- 80 columns, NO_COLOR --\n%s", seen(text))
	err := ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	fmt.Fprintf(&b, "-- a pipe --\n%s", seen(ts.ReadFile("stdout")))
	golden := filepath.Join("testdata", "screens", args[0]+".txt")
	got := strings.ReplaceAll(b.String(), "\x1b", "\\e")
	if *update {
		ts.Check(os.WriteFile(golden, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(golden)
	ts.Check(err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		ts.Fatalf("%s is not what it was; go test -run TestScripts/screens -update writes it anew:\n%s", golden, diff)
	}
}

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
	erased = regexp.MustCompile("[^\n]*\r\x1b\\[K")
	driver = strings.NewReplacer("(sqlite3)", "(SQLITE)", "(sqlite)", "(SQLITE)")
	block  = regexp.MustCompile(`id="[0-9a-f]{12}"`)
	size   = regexp.MustCompile(`\d+ KiB`)
	took   = regexp.MustCompile(`recalled in \d+ ms`)
	stamp  = regexp.MustCompile(`20\d\d-\d\d-\d\d( \d\d:\d\d)?`)
)

// seen is what is left on a screen, with what differs from run to run made the same.
func seen(text string) string {
	text = driver.Replace(erased.ReplaceAllString(text, ""))
	text = size.ReplaceAllString(block.ReplaceAllString(text, `id="0123456789ab"`), "320 KiB")
	text = took.ReplaceAllString(text, "recalled in 42 ms")
	return stamp.ReplaceAllStringFunc(text, func(at string) string { return "2026-01-02 03:04"[:len(at)] })
}
