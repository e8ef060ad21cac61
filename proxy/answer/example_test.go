package answer_test

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
)

// The pump adds what stands between the quotes of each chunk; somebody beside the conversation decodes it.
func Example() {
	var said answer.Text
	fmt.Println(said.Add([]byte(`The mast is `)), said.Add([]byte(`11.42\u00a0metres.`)))
	said.ToolCalled()
	said.Add([]byte(`Anything else?`))
	for _, part := range said.Take() {
		fmt.Printf("%q\n", part.Text)
	}
	fmt.Println(said.Take() == nil, said.Said())
	// Output:
	// true false
	// "The mast is 11.42\u00a0metres.\f\n\nAnything else?"
	// true true
}
