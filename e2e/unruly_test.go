package e2e

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// An unruly is a harness that behaves as badly as it is told, in words: the test binary itself plays it. It answers
// with one message and the end of the turn otherwise.
//
//	stays        goes on when its stdin has ended, as gemini does
//	deaf         and whatever signal it gets
//	polite       a signal makes it exit with status 3
//	idle         does nothing at all
//	litters      leaves a process that has its pipes and ignores signals
//	slow         ends a turn only when it is cancelled
//	dies=AT:HOW  at start, initialize, session/new, session/prompt: with an exit status, or by a signal, kill or term
//	flood=N      says N numbered messages in a turn
//	noise        says what is no frame before it answers
//	errors       ends a turn with an error
//	twice        answers everything twice
//	unasked      answers what nobody asked, too
//	version=N    speaks that version of the protocol
type unruly map[string]string

const (
	unrulyVariable = "SIGNET_E2E_UNRULY"
	signalsFile    = "SIGNET_E2E_SIGNALS" // each signal that arrives is written there, a line each
	receivedFile   = "SIGNET_E2E_RECEIVED"
)

func playUnruly(words string) int {
	u := unruly{}
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		u[name] = value
	}
	u.heed()
	if u.is("litters") {
		litter := exec.Command(os.Args[0])
		// what it hears is its own affair
		litter.Env = append(os.Environ(), unrulyVariable+"=idle deaf", signalsFile+"="+os.DevNull)
		litter.Stdin, litter.Stdout, litter.Stderr = os.Stdin, os.Stdout, os.Stderr
		if litter.Start() != nil {
			return 6
		}
	}
	if u.is("idle") {
		select {}
	}
	u.die("start")
	u.serve()
	if u.is("stays") {
		select {}
	}
	return 0
}

func (u unruly) is(word string) bool { _, ok := u[word]; return ok }

// heed takes signals, and lets the default have its way where nothing else is asked for.
func (u unruly) heed() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for s := range signals {
			if f, err := os.OpenFile(os.Getenv(signalsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintln(f, s)
				f.Close()
			}
			switch {
			case u.is("deaf"):
			case u.is("polite"):
				os.Exit(3)
			default:
				dieOf(s)
			}
		}
	}()
}

// dieOf ends this process as if nobody had taken the signal.
func dieOf(s os.Signal) {
	signal.Reset(s)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(s)
	}
	if err != nil {
		os.Exit(4)
	}
	select {}
}

// die ends the process where it is to.
func (u unruly) die(at string) {
	where, how, _ := strings.Cut(u["dies"], ":")
	if where != at {
		return
	}
	for i := range 100 {
		fmt.Fprintf(os.Stderr, "stack line %d\n", i)
	}
	fmt.Fprint(os.Stderr, "fatal: the last words")
	switch code, err := strconv.Atoi(how); {
	case err == nil:
		os.Exit(code)
	case how == "kill":
		dieOf(os.Kill)
	default:
		dieOf(syscall.SIGTERM)
	}
}

func (u unruly) serve() {
	var (
		out     = bufio.NewWriterSize(os.Stdout, 64<<10)
		in      = bufio.NewReaderSize(io.TeeReader(os.Stdin, newRecorder(os.Getenv(receivedFile))), 64<<10)
		session = fmt.Sprintf("unruly-%d-", os.Getpid())
		opened  int
		prompt  json.RawMessage // the one under way
	)
	say := func(format string, args ...any) {
		if u.is("noise") {
			fmt.Fprint(out, "Loading model...\n1\n\n")
		}
		fmt.Fprintf(out, format+"\n", args...)
		if u.is("twice") {
			fmt.Fprintf(out, format+"\n", args...)
		}
		if u.is("unasked") {
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"nobody's","result":{}}`)
		}
		out.Flush()
	}
	version := cmp.Or(u["version"], "1")
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var f struct {
			ID     json.RawMessage
			Method string
			Params struct{ SessionID string }
		}
		if json.Unmarshal(line, &f) != nil {
			continue
		}
		u.die(f.Method)
		switch f.Method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%s,"agentInfo":{"name":"unruly","version":"1"},`+
				`"agentCapabilities":{"loadSession":true}}}`, f.ID, version)
		case "session/new":
			opened++
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"%s%d"}}`, f.ID, session, opened)
		case "session/prompt":
			flood, _ := strconv.Atoi(u["flood"])
			for i := range max(flood, 1) {
				out.Write(numbered(f.Params.SessionID, i))
			}
			if u.is("slow") {
				prompt = f.ID
				out.Flush()
				continue
			}
			if u.is("errors") {
				say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error"}}`, f.ID)
				continue
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, f.ID)
		case "session/cancel":
			if prompt != nil {
				say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, prompt)
				prompt = nil
			}
		default:
			if f.ID != nil && f.Method != "" {
				say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, f.ID)
			}
		}
	}
}

// A recorder keeps what is written in a file, as far as that takes it.
type recorder struct{ file *os.File }

func newRecorder(name string) recorder {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(5)
	}
	return recorder{f}
}

func (r recorder) Write(p []byte) (int, error) {
	_, _ = r.file.Write(p)
	return len(p), nil
}

// numbered is the nth message of a turn, a line.
func numbered(session string, n int) []byte {
	line := make([]byte, 0, 256)
	line = append(line, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"`...)
	line = append(line, session...)
	line = append(line, `","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word `...)
	line = strconv.AppendInt(line, int64(n), 10)
	return append(line, ` "}}}}`+"\n"...)
}
