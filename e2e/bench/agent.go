package main

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// The agent does no more than it must, so that what is measured is the way to it: it looks for what it needs by its
// place in the frames that the client of this program writes.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sessionID is the id of the session that an agent opens as its nth.
func sessionID(n int) string { return fmt.Sprintf("bench-%016x", n) }

var (
	idOf     = regexp.MustCompile(`^\{"jsonrpc":"2.0","id":(\d+),"method":"([a-z/_]+)"`)
	session  = regexp.MustCompile(`"params":\{"sessionId":"(bench-[0-9a-f]{16})"`)
	downText = regexp.MustCompile(`"text":"down (\d+) (\d+) (true|false)"`)
)

func serve(in io.Reader, out io.Writer) error {
	r := bufio.NewReaderSize(in, 1<<20)
	var line []byte
	opened := 0
	for {
		line = line[:0]
		for {
			piece, err := r.ReadSlice('\n')
			line = append(line, piece...)
			if err == nil {
				break
			}
			if err == io.EOF {
				return nil
			}
			if err != bufio.ErrBufferFull {
				return err
			}
		}
		m := idOf.FindSubmatch(line[:min(len(line), 100)])
		if m == nil {
			continue
		}
		result := `{}`
		switch string(m[2]) {
		case "initialize":
			result = `{"protocolVersion":1,"agentInfo":{"name":"bench","version":"1"},"agentCapabilities":{}}`
		case "session/new":
			opened++
			result = `{"sessionId":"` + sessionID(opened) + `"}`
		case "session/prompt":
			crc := crc32.Checksum(line, castagnoli)
			if d := downText.FindSubmatch(line[max(0, len(line)-100):]); d != nil {
				of := session.FindSubmatch(line[:min(len(line), 200)])
				if of == nil {
					return errors.New("a prompt without a session")
				}
				var err error
				if crc, err = flood(out, string(of[1]), number(d[1]), number(d[2]), d[3][0] == 't'); err != nil {
					return err
				}
			}
			result = fmt.Sprintf(`{"stopReason":"end_turn","_meta":{"crc":%d}}`, crc)
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m[1], result); err != nil {
			return err
		}
	}
}

func number(digits []byte) int {
	n, _ := strconv.Atoi(string(digits)) // the pattern has seen to it
	return n
}

// flood sends numbered updates of exactly size bytes and returns the sum of all of them.
func flood(out io.Writer, session string, count, size int, each bool) (uint32, error) {
	head := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session +
		`","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`
	const tail = `"}}}}` + "\n"
	const digits = 9
	frame := []byte(head + strings.Repeat("d", size-len(head)-len(tail)) + tail)
	var crc uint32
	w := bufio.NewWriterSize(out, 64<<10)
	for i := range count {
		copy(frame[len(head):], fmt.Sprintf("%0*d", digits, i))
		crc = crc32.Update(crc, castagnoli, frame)
		if _, err := w.Write(frame); err != nil {
			return 0, err
		}
		if each {
			if err := w.Flush(); err != nil {
				return 0, err
			}
		}
	}
	return crc, w.Flush()
}
