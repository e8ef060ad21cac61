package wire_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// A direction that lets everything pass but prompts, which wait until their context is there.
type direction struct{ *wire.Queue }

func (d direction) Judge(b []byte, whole bool) wire.Verdict {
	switch {
	case bytes.Contains(b, []byte("prompt")):
		return wire.Hold
	case whole:
		return wire.Pass
	}
	return wire.More
}

func (d direction) TooLong([]byte) wire.Verdict    { return wire.Pass }
func (d direction) Held(line []byte) error         { return d.Hold(len(line), prompt(line).release) }
func (d direction) Tapped([]byte, bool, bool)      {}
func (d direction) Stray(piece []byte, first bool) {}

// A prompt leaves with what was found for it. Nothing behind it overtakes it.
type prompt []byte

func (p prompt) release() [][]byte { return [][]byte{[]byte("context + "), p} }

func Example() {
	out := direction{wire.NewQueue(os.Stdout)}
	err := wire.Pump(strings.NewReader("new\nprompt\ncancel\n"), out)
	out.Join()
	fmt.Println(err)
	// Output:
	// new
	// context + prompt
	// cancel
	// <nil>
}
