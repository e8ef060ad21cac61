package mcpserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// dial connects to an address that Server.Socket gave.
func dial(address string) (net.Conn, error) {
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 {
		return nil, fmt.Errorf("%s is no address of a relay's memory tools", address)
	}
	conn, err := net.Dial("unix", address[:colon])
	if err != nil {
		return nil, fmt.Errorf("no memory tools: the relay that served them has ended; start the agent again (%w)", err)
	}
	if _, err := fmt.Fprintln(conn, address[colon+1:]); err != nil {
		conn.Close()
		return nil, fmt.Errorf("no memory tools: the relay that served them ends (%w)", err)
	}
	return conn, nil
}

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
