package chars_test

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

func ExampleCut() {
	fmt.Println(chars.Cut("naïve", 3)) // ï has two bytes, of which one would be left
	// Output: na
}
