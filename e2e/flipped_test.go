package e2e

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A damaged disk turns bits of a closed database over: no conversation loses words while doctor and the commands that
// read it find nothing to say. SQLite has no checksums: a letter that became another one is a letter to it. Such words
// are as many and as long as they were; they are counted as altered. SIGNET_TEST_FLIPPED sets how many databases.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("ECHOAGENT_TERSE=1", "SIGNET_PORT=1", "SIGNET_ACP_MEMORY=embedded")
	r := rand.New(rand.NewPCG(42, 1))
	c := b.connect(nil, echoBin)
	var sessions []string
	for range 6 {
		sessions = append(sessions, c.open())
		for n := range 8 {
			c.say(c.session, fmt.Sprintf("Turn %d. %s", n, strings.Repeat(answerOf(r), 1+r.IntN(10))))
		}
	}
	c.end()
	b.alone()
	b.takeIn()
	whole, err := os.ReadFile(b.database())
	must(b, err)
	want := map[string]string{}
	for _, one := range sessions {
		want[one] = b.run(proxyBin, "log", one, "--json")
	}
	words := func() string {
		return fmt.Sprint(b.query(`SELECT session, user, assistant FROM turns ORDER BY id`))
	}
	said := words()
	for _, flips := range []int{40, 4} {
		doctor, commands, altered, unharmed := 0, 0, 0, 0
		for n := range number("SIGNET_TEST_FLIPPED", 5) {
			acp, bad := filepath.Dir(b.database()), bytes.Clone(whole)
			for range flips {
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
			must(b, os.RemoveAll(acp))
			must(b, os.MkdirAll(acp, 0o700))
			must(b, os.WriteFile(b.database(), bad, 0o600))
			told := false
			tell := func(command ...string) string {
				got := b.try(append([]string{proxyBin}, command...)...)
				told = told || got.Code != 0 || got.Stderr != ""
				return got.Stdout
			}
			tell("doctor", "--json")
			found := told
			tell("sessions", "--json")
			same, fewer := true, false
			for _, one := range sessions {
				got := tell("log", one, "--json")
				same = same && got == want[one]
				fewer = fewer || strings.Count(got, "\n") != strings.Count(want[one], "\n")
			}
			now := ""
			if !told {
				now = words()
			}
			c := b.connect(nil, echoBin)
			c.open()
			c.say(c.session, "A new conversation.")
			c.end()
			b.alone()
			switch {
			case found:
				doctor++
			case told || c.said() != "":
				commands++
			case fewer || bitsApart(said, now) > flips:
				t.Errorf("database %d, %d bits: words are missing, and nothing was said", n, flips)
			case !same:
				altered++
			default:
				unharmed++
			}
		}
		t.Logf("%d bits of %d KiB: doctor named %d, other commands alone %d; letters were altered in %d, nothing in %d",
			flips, len(whole)>>10, doctor, commands, altered, unharmed)
	}
}

// bitsApart counts the bits in which two texts differ; it is more than any if one is longer.
func bitsApart(a, b string) (n int) {
	if len(a) != len(b) {
		return math.MaxInt
	}
	for i := range len(a) {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}
