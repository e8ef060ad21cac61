package language_test

import (
	"fmt"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// What is asked is what is kept: terms of both come from the same functions.
func Example() {
	fmt.Println(language.Terms("The masts of the Curlew are in maxRetryCount"))
	for _, term := range language.Ask("How long is the mast?").Terms {
		fmt.Println(term.Forms, term.Common)
	}
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	when, rest, ok := language.FindTime("what did we decide yesterday", now)
	fmt.Println(when.From.Format(time.DateOnly), when.Days(), rest, ok)
	// Output:
	// [mast curlew max retri count maxretrycount]
	// [long] true
	// [mast] false
	// 2026-11-21 1 what did we decide   true
}
