package mcpserver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// dial connects to an address that Server.Socket gave.
func dial(address string) (net.Conn, error) {
	const noTools = "no memory tools"
	if !filepath.IsAbs(address) {
		return nil, fmt.Errorf("%s is not the address of a relay's memory tools", address)
	}
	token, err := os.ReadFile(address)
	if errors.Is(err, fs.ErrPermission) { // in the bounds of a delegation, whose relay knows us without it
		token, err = nil, nil
	}
	var conn net.Conn
	if err == nil {
		conn, err = net.Dial("unix", filepath.Join(filepath.Dir(address), socketName))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: its relay has ended; start the agent again (%w)", noTools, err)
	}
	answer, err := greet(conn, filepath.Base(address)+" "+string(token))
	switch {
	case err != nil:
		err = fmt.Errorf("%s: its relay is ending (%w)", noTools, err)
	case answer != welcome:
		err = fmt.Errorf("%s: %s", noTools, answer)
	default:
		return conn, nil
	}
	conn.Close()
	return nil, err
}

// greet says which session's tools we want, and returns the answer.
func greet(conn net.Conn, hello string) (answer string, err error) {
	if err := conn.SetDeadline(time.Now().Add(helloLimit)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(conn, hello); err != nil {
		return "", err
	}
	if answer, err = readLine(conn, longestAnswer); err != nil {
		return "", err
	}
	return answer, conn.SetDeadline(time.Time{})
}

const longestAnswer = 1 << 10 // bytes

// Pipe copies in and out to and from the socket of a server until either ends. It is what a harness starts as its MCP
// server: it keeps no state and reads no configuration. The error says what to do when nobody listens at the address.
func Pipe(address string, in io.Reader, out io.Writer) error {
	if info, err := os.Stat(address); err == nil && info.IsDir() {
		return throughPipes(address, in, out)
	}
	conn, err := dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	guard.Go("pipe", func() { // ends with the process, for a read from a terminal or pipe cannot be interrupted
		_, _ = io.Copy(conn, in)
		_ = conn.(*net.UnixConn).CloseWrite()
	})
	if _, err = io.Copy(out, conn); errors.Is(err, syscall.ECONNRESET) { // the relay has ended
		return nil
	}
	return err
}
