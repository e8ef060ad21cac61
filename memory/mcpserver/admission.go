package mcpserver

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/Signet-AI/signet-acp-proxy/lineage"
	"github.com/Signet-AI/signet-acp-proxy/socket"
)

// An admission decides by who connects whether a process may use a session's tools. What runs in the bounds of a
// delegation is to reach the tools of that delegation and no others:
//
//   - Of a process's ancestors, the nearest one that runs our program must be this one. Any other is another session's
//     relay or a delegation's runner.
//   - A process without such an ancestor (it has forked away, or a server or a container runs it) needs the session's
//     token, which stands in a file that nothing in bounds can read.
//   - One that is confined while the harness is not may come from bounds of ours: as a stranger it is refused, and
//     below the harness, where a fork may have put it, it needs the token, too.
type admission struct {
	self     int         // our process
	program  string      // our file
	confined func() bool // the session's harness is confined itself, as a delegation's is
}

func newAdmission(harness func() int) admission {
	program, _ := os.Executable()
	return admission{self: os.Getpid(), program: program, confined: func() bool {
		if harness == nil {
			return false
		}
		p, err := lineage.Look(harness())
		return err == nil && p.Confined
	}}
}

// Why a process is refused.
var (
	errOtherSession = errors.New("these memory tools belong to another session")
	errConfined     = errors.New("refused the memory tools to a program with no_new_privs that this session's " +
		"agent did not start")
	errNoToken = errors.New("the session's token is missing or wrong")
)

// judge reports whether who connected also needs the session's token. accepted is when it had connected at the latest.
func (a admission) judge(conn *net.UnixConn, accepted lineage.Moment) (token bool, err error) {
	err = socket.AskPeer(conn, func(p socket.Peer) error {
		if p.User != os.Getuid() {
			return fmt.Errorf("user %d is not user %d", p.User, os.Getuid())
		}
		token, err = a.judgeProcess(p.ID, accepted)
		return err
	})
	if errors.Is(err, socket.ErrUnknown) || errors.Is(err, lineage.ErrUnknown) {
		return true, nil
	}
	return token, err
}

func (a admission) judgeProcess(peer int, accepted lineage.Moment) (token bool, err error) {
	if peer == 0 { // it is not below us, so not in bounds of ours
		return true, nil
	}
	line, err := lineage.Of(peer)
	switch {
	case err != nil:
		return false, err
	case line[0].Started > accepted:
		return false, errors.New("the process that connected has ended")
	}
	return a.judgeLine(line)
}

// judgeLine judges a process by itself and its ancestors.
func (a admission) judgeLine(line []lineage.Process) (token bool, err error) {
	for i, p := range line {
		switch {
		case p.ID == a.self:
			return line[0].Confined && !line[max(0, i-1)].Confined, nil
		case i > 0 && p.RunsOf(a.program): // the process itself may be the pipe to us
			return false, errOtherSession
		}
	}
	if line[0].Confined && !a.confined() {
		return false, errConfined
	}
	return true, nil
}
