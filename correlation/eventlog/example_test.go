package eventlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// A process writes down a session from its first moment, before there is a database.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	live := filepath.Join(dir, "acp", "live")
	ctx := context.Background()

	log, err := eventlog.Open(eventlog.Options{
		Dir:     live,
		Process: correlation.ProcessInfo{Kind: correlation.Relay, Harness: "claude", Memory: "embedded"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	const session, turn = 1, 1 // numbers of this process, counted from 1 on
	log.Append(
		correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: "sess_1", New: true}},
		correlation.TurnBegan{Session: session, Turn: turn},
		correlation.UserSaid{Turn: turn, Text: "hello"},
		correlation.AssistantSaid{Turn: turn, Text: "hi "},
		correlation.AssistantSaid{Turn: turn, Text: "there"},
	)
	// Before the response leaves for the client: 5 ms, 50 ms where the disk hangs.
	if err := log.AppendWait(ctx, correlation.TurnEnded{Turn: turn, Stop: "end_turn"}); err != nil {
		fmt.Println(err)
	}

	// The database may come later.
	db, err := migrations.Open(ctx, filepath.Join(dir, "acp", "sessions.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	store := correlation.New(db, correlation.Options{LiveDir: live})
	log.Attach(store)
	row, err := log.Row(ctx, session) // what Store.Claim wants
	if err != nil {
		fmt.Println(err)
		return
	}

	log.Append(correlation.ProcessEnded{Reason: "eof"})
	last, cancel := context.WithTimeout(ctx, 5*time.Second) // 300 ms in a relay
	defer cancel()
	left, err := log.Close(last)
	fmt.Println("left for others:", left, err)

	turns, err := store.Book().Turns(ctx, row)
	fmt.Println(turns[0].User, "/", turns[0].Assistant, "/", turns[0].Stop, err)
	// Output:
	// left for others: false <nil>
	// hello / hi there / end_turn <nil>
}
