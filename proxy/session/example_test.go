package session_test

import (
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// All that a connection knows is read and changed in one function, which waits for nothing.
func Example() {
	table := session.NewTable(session.Options{Harness: "claude", Now: time.Now}, nil)
	table.Update(func(c *session.Connection) {
		made, _ := c.RequestNew("/home/robin/heron")
		c.Await("n1", session.Request{Method: "session/new", Session: made})
	})
	table.Update(func(c *session.Connection) { // the response with id 1 came
		request, ok := c.Answered("n1")
		fmt.Println(ok, request.Method)
		c.Opened(request.Session, true, "sess-1")
	})
	table.Update(func(c *session.Connection) {
		s := c.Session("sess-1")
		fmt.Println(s.State(), s.MustHold(false))
		turn := c.BeginTurn(s)
		c.PromptForwarded(turn)
		fmt.Println(s.Turn() == turn, c.Busy())
	})
	// Output:
	// true session/new
	// armed true
	// true true
}
