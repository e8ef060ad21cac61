package signet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

var (
	// ErrNoAnswer: the request went out and no readable answer came. The daemon may have taken it; sending it again may
	// store it twice. After any other error it is safe to send it again.
	ErrNoAnswer = errors.New("no answer from the daemon")
	// errRefused: it was not reached, or its answer is no success (a *StatusError says which).
	errRefused = errors.New("not taken by the daemon")
)

// An End hands a session over for extraction. File and Text are empty for a session in which nothing was said.
type End struct {
	Session memory.Session // as it was started
	Reason  string         // never "clear", by which a daemon discards the session
	// File is the transcript's absolute path; the daemon opens it within the request, so it may be removed as soon as
	// End returns. "User: ..." and "Assistant: ..." lines are what every version takes.
	File string
	// Text is the same inline, for a daemon that cannot open the path, as in a container; 0.58.1 reads it never.
	Text  string
	Again bool // it was posted before without an answer
}

// An EndReply is what the daemon made of an End. At most one of Queued, Skipped, Bypassed and Dropped is true;
// none is for a session that ended without a transcript.
type EndReply struct {
	Queued    bool
	JobID     string // summary job, or the newer kind's capture job
	CaptureID string // the newer kind's capture job, which Captured asks about
	// Bypassed: a person has switched the session off. Final: 0.58.1 extracts what is posted a second time.
	Bypassed bool
	// Skipped: not now. Duplicate: the key was ended within the last 30 minutes, by EndedBy; otherwise the session is
	// claimed by ClaimedBy.
	Skipped, Duplicate bool
	EndedBy, ClaimedBy string
	// Dropped: a transcript was given and not queued. A daemon does not say why: under 500 characters, unreadable, or
	// its pipeline is off. Kept: the daemon has said that it makes no job of it, and keeps a transcript that it has.
	Dropped, Kept bool
}

// maxInline bounds an inline transcript, in bytes: the daemon reads a body on its one event loop, 10 MB in 0.6 s.
const maxInline = 4 << 20

// An endReply is the daemon's reply to session-end, whose status is 200 either way.
type endReply struct {
	MemoriesSaved *int
	Queued        *bool
	JobID         string
	CaptureJobID  string `json:"transcriptCaptureJobId"`
	EndedBy       string
	Duplicate     bool `json:"duplicateSessionEnd"`
	ownership
}

// End posts session-end, once, and reads from the reply what the daemon made of it. It ends with ctx or after 60 s. It
// goes to a daemon that is left alone, too: deliveries have a back-off of their own.
//
// Errors: ErrNoAnswer, or one after which it may be sent again, with memory.ErrOwned for a session that another runtime
// path holds.
func (c *Client) End(ctx context.Context, r End) (EndReply, error) {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	ask := c.hook(r.Session)
	ask.Cwd, ask.Reason = r.Session.Cwd, r.Reason
	ask.TranscriptPath, ask.Transcript = r.File, inline(r.Text)
	if r.Reason == "clear" {
		ask.Reason = "session_shutdown"
	}
	if err := c.verify(ctx); err != nil {
		return EndReply{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	var got endReply
	began := time.Now()
	err := c.postBound(ctx, "session-end", ask, &got)
	c.settleShared(began, unavailable(err))
	switch {
	case err != nil:
		return EndReply{}, deliveryError(err)
	case got.Bypassed:
		c.heard(r.Session.Key, memory.ErrBypassed)
	case !got.queued() && !got.skipped() && got.MemoriesSaved == nil:
		return EndReply{}, fmt.Errorf("%w: %w", ErrNoAnswer, errGarbage)
	}
	return got.result(r.File != "" || r.Text != ""), nil
}

func (r *endReply) queued() bool { return r.Queued != nil && *r.Queued || r.CaptureJobID != "" }

func (r *endReply) skipped() bool {
	return !r.Bypassed && (r.Skipped || r.Duplicate || r.DuplicateRuntimePath)
}

// result is what the reply says. given says whether there was a transcript.
func (r *endReply) result(given bool) EndReply {
	dropped := given && !r.queued() && !r.skipped() && !r.Bypassed
	return EndReply{
		Queued:    r.queued(),
		JobID:     chars.Cut(cmp.Or(r.JobID, r.CaptureJobID), 128),
		CaptureID: chars.Cut(r.CaptureJobID, 128),
		Bypassed:  r.Bypassed,
		Skipped:   r.skipped(),
		Duplicate: r.Duplicate,
		EndedBy:   chars.Cut(r.EndedBy, 32),
		ClaimedBy: chars.Cut(r.ClaimedBy, 32),
		Dropped:   dropped,
		Kept:      dropped && r.Queued != nil,
	}
}

// Free ends a key under which nothing is left to be extracted: the session is not among the live ones any more. With
// any other reason than this a daemon from 0.145 on would extract once more the longest transcript that it has had for
// the key, its prompts included. It ends with ctx or after 60 s. Errors as of End.
func (c *Client) Free(ctx context.Context, s memory.Session) error {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	ask := c.hook(s)
	ask.Cwd, ask.Reason = s.Cwd, "clear"
	var got endReply // what cannot be read is no answer
	return deliveryError(c.postBound(ctx, "session-end", ask, &got))
}

// SwitchedOff asks whether a person has switched a session off (GET /api/sessions). A daemon that does not tell has
// none. It ends with ctx or after 10 s. Errors wrap memory.ErrUnavailable.
func (c *Client) SwitchedOff(ctx context.Context, key string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var got struct {
		Sessions []struct {
			Key      string
			Bypassed bool
		}
	}
	err := c.request(ctx, "GET /api/sessions", nil, &got)
	if refused := refusal(err); refused != nil && refused.Code < 500 {
		return false, nil
	}
	for _, s := range got.Sessions {
		if s.Key == key && s.Bypassed {
			c.heard(key, memory.ErrBypassed)
			return true, nil
		}
	}
	return false, unavailable(err)
}

// deliveryError sorts an error by whether the request may be sent again. Behind a gateway that timed out it is not
// known what the daemon did.
func deliveryError(err error) error {
	switch {
	case err == nil:
		return nil
	case inDoubt(err), isStatus(err, 502), isStatus(err, 504):
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	case isStatus(err, http.StatusForbidden):
		return fmt.Errorf("%w: the token needs the permission \"remember\" at the daemon: %w", errRefused, err)
	case isStatus(err, 409):
		return fmt.Errorf("%w: %w: %w", errRefused, memory.ErrOwned, err)
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// inline cuts a transcript, at the end of a line, to maxInline bytes.
func inline(s string) string {
	if len(s) <= maxInline {
		return s
	}
	s = chars.Cut(s, maxInline)
	if at := strings.LastIndexByte(s, '\n'); at > 0 {
		s = s[:at+1]
	}
	return s
}

// CompactionComplete keeps a harness's own summary of a conversation that it shortened, as a memory, and returns that
// memory's id. It ends with ctx or after 10 s. Errors as of End.
func (c *Client) CompactionComplete(ctx context.Context, s memory.Session, summary string) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var got struct {
		Success  bool
		MemoryID string
		ownership
	}
	ask := c.hook(s)
	ask.Summary = inline(summary)
	err = c.postBound(ctx, "compaction-complete", ask, &got)
	if err != nil {
		return "", deliveryError(err)
	}
	if err := got.err(); err != nil {
		return "", fmt.Errorf("%w: %w", errRefused, err)
	}
	if !got.Success {
		return "", fmt.Errorf("%w: %w", errRefused, errGarbage)
	}
	return chars.Cut(got.MemoryID, 128), nil
}
