package session_test

import (
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// What was seen goes in, what is to be done comes out.
func Example() {
	c := session.New(session.Options{Harness: "claude"})
	now := time.Now()
	asked := c.On(now, session.OpeningAsked{
		Key: "1", Method: "session/new", Opening: session.Opening{Kind: session.OpensNew, Cwd: "/home/robin/heron"},
	})
	fmt.Println("look-ups:", len(asked.Lookups))
	c.On(now, session.LookedUp{Lookup: asked.Lookups[0]})
	answered := c.On(now, session.Answered{Key: "1"})
	opened := c.On(now, session.OpeningAnswered{Request: answered.Request, ID: "sess-1", Editing: true})
	fmt.Println("recorded:", len(opened.Record), "fetches:", len(opened.Fetches))
	prompt := c.On(now, session.PromptJudged{ID: []byte("sess-1"), Key: "2"})
	fmt.Println("held:", prompt.Frame == session.Hold)
	// Output:
	// look-ups: 1
	// recorded: 1 fetches: 0
	// held: true
}
