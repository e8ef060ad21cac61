package pattern_test

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

var metres = pattern.New(`\d+(?:\.\d+)? metres`)

// A pattern costs nothing until it is used.
func Example() {
	fmt.Println(metres().FindString("The mast is 11.42 metres long."))
	// Output: 11.42 metres
}
