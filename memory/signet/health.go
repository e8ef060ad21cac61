package signet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Health is what a daemon says of itself.
type Health struct {
	Version   string
	Status    string // "healthy", "degraded", "shutting_down"
	AgentsDir string // the folder that it serves
	// Newer: of the kind documented from spring 2026 on. Its MCP server calls its own port, and it knows claimOnly.
	Newer bool
	// Ours: AgentsDir is our SignetPath, symlinks resolved, and no other user listens there. A configured daemon is
	// used even if it is not.
	Ours bool
	// OtherUser: another user listens at the address. OwnerUnknown: the system does not tell who does, so that no token
	// is shown unless a person configured the address.
	OtherUser, OwnerUnknown bool
}

// Health asks the daemon who it is, without the token, because anybody may answer. Where the daemon wants a token (team
// mode), it is shown if a person configured the address, or our own user or root listens there. It ends with ctx or
// after 10 s. Errors wrap memory.ErrUnavailable; a *StatusError with 401 is a daemon that got no token that it accepts.
func (c *Client) Health(ctx context.Context) (Health, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var r struct{ Status, Version, AgentsDir string }
	err := c.call(ctx, "GET /health", nil, &r, false)
	if err != nil && !isStatus(err, http.StatusUnauthorized) {
		return Health{}, unavailable(err)
	}
	listens := c.listens() // behind the call: the kernel takes milliseconds to say so, and mostly nobody does
	if isStatus(err, http.StatusUnauthorized) && (c.opts.Configured || listens == ownerOurs) {
		err = c.call(ctx, "GET /health", nil, &r, true)
	}
	if err != nil {
		return Health{}, unavailable(err)
	}
	if r.Status == "" && r.Version == "" {
		return Health{}, unavailable(errGarbage)
	}
	h := Health{
		Version:      chars.Cut(r.Version, 64),
		Status:       chars.Cut(r.Status, 64),
		AgentsDir:    r.AgentsDir,
		Newer:        newer(r.Version),
		Ours:         samePath(r.AgentsDir, c.opts.SignetPath) && listens != ownerOther,
		OtherUser:    listens == ownerOther,
		OwnerUnknown: listens == ownerUnknown || listens == ownerNobody,
	}
	c.presence.heard(h.Version, h.Ours, !h.OwnerUnknown)
	return h, nil
}

// newer reports a version from 0.200 on: 0.145.8 was run and is of the older kind, 0.214 is documented to be of the
// newer. Text that is no version counts as older: the older rules do no harm on a newer daemon, the newer ones do on an
// older one.
func newer(version string) bool {
	major, rest, ok := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if !ok {
		return false
	}
	minor, _, _ := strings.Cut(rest, ".")
	ma, err1 := strconv.Atoi(major)
	mi, err2 := strconv.Atoi(minor)
	return err1 == nil && err2 == nil && ma >= 0 && (ma > 0 || mi >= 200)
}

func samePath(a, b string) bool {
	return a != "" && b != "" && filepath.IsAbs(a) && resolved(a) == resolved(b)
}

func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Present asks whether there is a daemon that may be spoken to: it answers, and it serves our folder as our user or was
// named by a person. Relay, tools, delivery and doctor all go by this answer. Errors as of Health, and memory's
// ErrUnavailable with ErrNotOurs or ErrOtherUser.
func (c *Client) Present(ctx context.Context) (Health, error) {
	h, err := c.Health(ctx)
	switch {
	case err != nil || c.opts.Configured:
		return h, err
	case h.OtherUser:
		return h, fmt.Errorf("%w: %w", memory.ErrUnavailable, ErrOtherUser)
	case !h.Ours:
		return h, fmt.Errorf("%w: %w", memory.ErrUnavailable, ErrNotOurs)
	}
	return h, nil
}

// LeftAlone reports whether processes of ours have found lately that the daemon takes calls and does not answer. Who
// has a person or an agent waiting does not ask it then.
func (c *Client) LeftAlone() bool { return c.presence.open() }

// verify asks an unconfigured daemon which folder it serves, at most every 30 seconds. Prompts and transcripts go only
// to a daemon that passed.
func (c *Client) verify(ctx context.Context) error {
	if c.opts.Configured || c.presence.isTrusted() {
		return nil
	}
	_, err := c.Present(ctx)
	return err
}

// listens says who listens at the daemon's address; it does not ask where a person configured the address.
func (c *Client) listens() owner {
	if c.opts.Configured {
		return ownerUnknown
	}
	return c.owner(c.base)
}

// ErrNotOurs is the reason when a daemon that nobody configured serves another folder than ours: it is another user's,
// or another profile's.
var ErrNotOurs = errors.New("the daemon serves another folder")
