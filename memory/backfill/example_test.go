package backfill_test

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
)

// What is stored of a turn is without what the user marked private, also where the agent repeats it.
func ExampleClean() {
	turn, _ := backfill.Clean(backfill.Turn{
		User:      "The code of the gate is <private>4711-Heron</private>.",
		Assistant: "4711-Heron, noted.",
	}, nil)
	fmt.Println(turn.User)
	fmt.Println(turn.Assistant)
	// Output:
	// The code of the gate is .
	// [private], noted.
}
