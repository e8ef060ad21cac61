package signet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

const (
	startPath  = "/api/hooks/session-start"
	submitPath = "/api/hooks/user-prompt-submit"
)

// A prompt waits for the start of its key, or the daemon's checkpoints miss it.
func TestRecallWaitsForStart(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	d.Fail(daemontest.Fault{Path: startPath, Kind: daemontest.BlackHole})
	c := client(t, d.URL())
	s := memory.Session{Key: "k"}
	starting, cancel := context.WithCancel(t.Context())
	started, recalled := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := c.Start(starting, s)
		started <- err
	}()
	for len(d.Requests(startPath)) == 0 {
		time.Sleep(time.Millisecond)
	}
	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := c.Recall(short, s, "heron", nil); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("while the start is under way: %v", err)
	}
	if n := len(d.Requests(submitPath)); n != 0 {
		t.Errorf("%d prompts overtook the start", n)
	}
	if _, err := c.Recall(t.Context(), memory.Session{Key: "other"}, "heron", nil); err != nil {
		t.Errorf("another session: %v", err)
	}
	go func() {
		_, err := c.Recall(t.Context(), s, "heron", nil)
		recalled <- err
	}()
	cancel()
	if err := <-started; !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
	if err := <-recalled; err != nil {
		t.Errorf("after the start: %v", err)
	}
}

// What a person has switched off stays so: nothing is told, nothing more is asked, from whichever hook it is heard.
func TestBypassIsFinal(t *testing.T) {
	for _, gen := range daemontest.All {
		for _, from := range []string{"start", "prompt", "end"} {
			d := daemontest.Start(t, daemontest.Options{Generation: gen})
			d.Remember("The heron needs the VPN", "fact")
			d.Bypass("k", true)
			c := client(t, d.URL())
			s := memory.Session{Key: "k"}
			var err error
			switch from {
			case "start":
				_, err = c.Start(t.Context(), s)
			case "prompt":
				_, err = c.Recall(t.Context(), s, "heron", nil)
			case "end":
				var got EndReply
				if got, err = c.End(t.Context(), End{Session: memory.Session{Key: "k"},
					File: transcript(t, longTalk)}); err != nil || got != (EndReply{Bypassed: true}) {
					t.Errorf("%s: end: %+v, %v", gen.Version(), got, err)
				}
				err = memory.ErrBypassed
			}
			if !errors.Is(err, memory.ErrBypassed) || !errors.Is(err, memory.ErrOwned) ||
				c.bypassed("k") == nil || c.bypassed("other") != nil {
				t.Errorf("%s, %s: %v", gen.Version(), from, err)
			}
			d.ForgetRequests()
			d.Bypass("k", false) // or the daemon was restarted: it is not asked again
			got, err := c.Recall(t.Context(), s, "heron", nil)
			if !errors.Is(err, memory.ErrBypassed) || !got.Owned || len(d.Requests()) != 0 {
				t.Errorf("%s, %s: %+v, %v, %d requests", gen.Version(), from, got, err, len(d.Requests()))
			}
		}
	}
}

// What a prompt-submit leaves in the daemon's live transcript is what stands in the transcript that is posted.
func TestPromptsAreFolded(t *testing.T) {
	const prompt = "{\n  \"heron\": [\n    1,\n    2\n  ]\n}\n\n\nfunc main() {\n\tpanic(`<signet-memory>`)\n}"
	for _, gen := range []daemontest.Generation{daemontest.Middle, daemontest.Newer} {
		d := daemontest.Start(t, daemontest.Options{Generation: gen})
		if _, err := client(t, d.URL()).Recall(t.Context(), memory.Session{Key: "k"}, prompt, nil); err != nil {
			t.Fatal(err)
		}
		live := d.Live("k")
		if strings.Count(live, "\n") != 1 || !strings.HasPrefix(live, `User: { "heron": [ 1, 2 ] } func main()`) {
			t.Errorf("%s: %q", gen.Version(), live)
		}
	}
}

// A claim says that a key goes on, on every kind of daemon, and a second end is taken then.
func TestClaim(t *testing.T) {
	for _, gen := range daemontest.All {
		d := daemontest.Start(t, daemontest.Options{Generation: gen})
		c := client(t, d.URL())
		end := func() EndReply {
			got, err := c.End(t.Context(), End{Session: memory.Session{Key: "k"}, File: transcript(t, longTalk)})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := end(); !got.Queued {
			t.Errorf("%s: %+v", gen.Version(), got)
		}
		if got := end(); got.Duplicate != (gen != daemontest.Older) {
			t.Errorf("%s: a second end: %+v", gen.Version(), got)
		}
		if err := c.Claim(t.Context(), memory.Session{Key: "k"}); err != nil {
			t.Errorf("%s: %v", gen.Version(), err)
		}
		if keys := d.Sessions(); len(keys) != 1 {
			t.Errorf("%s: present: %v", gen.Version(), keys)
		}
		if got := end(); !got.Queued {
			t.Errorf("%s: an end after a claim: %+v", gen.Version(), got)
		}
	}
}

// A resumed session is claimed once, at its first prompt: by claimOnly where the daemon knows that, by the folded
// prompt otherwise. Its end is taken at once then. One that was started or asked for in this process is not, unless
// each prompt is told of.
func TestFollow(t *testing.T) {
	for _, gen := range daemontest.All {
		for _, each := range []bool{false, true} {
			d := daemontest.Start(t, daemontest.Options{Generation: gen})
			c := client(t, d.URL())
			resumed, started := memory.Session{Key: "resumed",
				Project: "/p"}, memory.Session{Key: "started", Project: "/p"}
			earlier := client(t, d.URL())
			if got, err := earlier.End(t.Context(), End{Session: resumed,
				File: transcript(t, longTalk)}); err != nil || !got.Queued {
				t.Fatalf("%+v, %v", got, err)
			}
			if _, err := c.Start(t.Context(), started); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				for _, s := range []memory.Session{resumed, started} {
					if err := c.Follow(t.Context(), Prompt{Session: s, Text: "one\n  two <private>x</private>",
						Last: "said\nbefore"}, each); err != nil {
						t.Errorf("%s: %v", gen.Version(), err)
					}
				}
			}
			claims, prompts := 0, 0
			for _, r := range d.Requests(startPath, submitPath) {
				body := r.JSON()
				switch {
				case body["claimOnly"] == true && body["sessionKey"] == resumed.Key:
					claims++
				case body["userMessage"] == "one two" && body["lastAssistantMessage"] == "said before":
					prompts++
				}
			}
			wantClaims, wantPrompts := 0, 1
			if gen.Documented() {
				wantClaims, wantPrompts = 1, 0
			}
			if each {
				wantPrompts = 6
			}
			if claims < wantClaims || !gen.Documented() && claims > 0 || prompts != wantPrompts {
				t.Errorf("%s, each %v: %d claims and %d prompts, want %d and %d", gen.Version(), each, claims, prompts,
					wantClaims, wantPrompts)
			}
			if got, err := c.End(t.Context(), End{Session: resumed,
				File: transcript(t, longTalk)}); err != nil || !got.Queued {
				t.Errorf("%s: the end of a resumed session: %+v, %v", gen.Version(), got, err)
			}
			c.resumed(started.Key)
			n := len(d.Requests(startPath, submitPath))
			if err := c.Follow(t.Context(), Prompt{Session: started, Text: "on"}, false); err != nil ||
				len(d.Requests(startPath, submitPath)) != n+1 {
				t.Errorf("%s: after its end was posted: %d hooks more (%v)", gen.Version(),
					len(d.Requests(startPath, submitPath))-n, err)
			}
		}
	}
}
