package session_test

import (
	"context"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// recorder is a connection's surroundings in which nothing answers.
type recorder struct{ session.Beside }

func (recorder) Record(events ...correlation.Event) { fmt.Println("recorded:", len(events)) }

func (recorder) Hurry(session.Urgency) {}

func (recorder) LookUp(_ context.Context, l *session.Lookup) {
	fmt.Println("the ledger is asked:", l.Harness)
}

// What happens comes to the goroutine that owns the sessions.
func Example() {
	owner := session.Own(session.Options{Harness: "claude"}, recorder{})
	defer owner.End()
	owner.Do(func(c *session.Connection) {
		c.OpeningAsked("1", "session/new", session.Opening{Kind: session.OpensNew, Cwd: "/home/robin/heron"})
	})
	owner.Do(func(c *session.Connection) {
		request, _ := c.Answered("1")
		s := c.OpeningAnswered(request, session.OpeningAnswer{ID: "sess-1", Editing: true})
		fmt.Println("opened:", s.ID())
	})
	owner.Do(func(c *session.Connection) {
		verdict, _ := c.JudgePrompt([]byte("sess-1"), "2", false)
		fmt.Println("held:", verdict == wire.Hold)
	})
	// Output:
	// the ledger is asked: claude
	// opened: sess-1
	// held: true
}
