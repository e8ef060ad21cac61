//go:build !linux

package mcpserver

import (
	"errors"
	"io"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

var errNoPipes = errors.New("the memory tools are served over named pipes on Linux only")

// Pipes is for programs in bounds, which only Linux has.
func (*Server) Pipes(string, func() memory.Session) (string, error) { return "", errNoPipes }

func throughPipes(string, io.Reader, io.Writer) error { return errNoPipes }
