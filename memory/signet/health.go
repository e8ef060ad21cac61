package signet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Health is what a daemon says of itself.
type Health struct {
	Version   string
	Status    string // "healthy", "degraded", "shutting_down"
	AgentsDir string // the folder that it serves
	// Newer: as documented from spring 2026 on. Its /mcp calls itself on whatever
	// port it has, and it knows claimOnly.
	Newer bool
	// Ours: AgentsDir is our SignetPath, symlinks resolved, and no other user
	// listens there. A configured daemon is used even if it is not.
	Ours bool
	// Stranger: another user listens there. Unseen: the system does not tell who
	// does, so that no token is shown unless a person configured the address.
	Stranger, Unseen bool
}

// Health asks the daemon who it is, without the token: who answers may be
// anybody. One that wants a token (team mode) is shown it if a person configured
// the address, or our own user or root listens there. Errors wrap
// memory.ErrUnavailable; a *StatusError with 401 is a daemon that got no token
// that it takes.
func (c *Client) Health(ctx context.Context) (Health, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var r struct{ Status, Version, AgentsDir string }
	err := c.call(ctx, c.reads, http.MethodGet, "/health", nil, &r, false)
	if err != nil && !isStatus(err, http.StatusUnauthorized) {
		return Health{}, unavailable(err)
	}
	listens := c.listens() // behind the call: the kernel takes milliseconds to say so, and mostly nobody does
	if isStatus(err, http.StatusUnauthorized) && (c.opts.Configured || listens == ownerOurs) {
		err = c.call(ctx, c.reads, http.MethodGet, "/health", nil, &r, true)
	}
	if err != nil {
		return Health{}, unavailable(err)
	}
	if r.Status == "" && r.Version == "" {
		return Health{}, unavailable(errGarbage)
	}
	h := Health{
		Version:   chars.Cut(r.Version, 64),
		Status:    chars.Cut(r.Status, 64),
		AgentsDir: r.AgentsDir,
		Newer:     newer(r.Version),
		Ours:      samePath(r.AgentsDir, c.opts.SignetPath) && listens != ownerStranger,
		Stranger:  listens == ownerStranger,
		Unseen:    listens == ownerUnknown || listens == ownerNobody,
	}
	c.trust(h)
	return h, nil
}

// newer reports a version from 0.200 on: 0.145.8 was run and is of the older kind,
// 0.214 is documented to be of the newer. What is no version counts as old: the
// old rules lose nothing on a new daemon, the new ones do on an old one.
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

// ours asks an unconfigured daemon which folder it serves, at most every 30
// seconds. Prompts and transcripts go only to a daemon that passed.
func (c *Client) ours(ctx context.Context) error {
	if c.opts.Configured {
		return nil
	}
	c.mu.Lock()
	fresh := c.opts.Now().Before(c.trusted)
	c.mu.Unlock()
	if fresh {
		return nil
	}
	h, err := c.Health(ctx)
	if err != nil {
		return err
	}
	switch {
	case h.Stranger:
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, ErrStranger)
	case !h.Ours:
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, ErrNotOurs)
	}
	return nil
}

// listens says who listens at the daemon's address; it is not asked where a person configured that.
func (c *Client) listens() owner {
	if c.opts.Configured {
		return ownerUnknown
	}
	return c.owner(c.base)
}

// trust notes what a health reply said.
func (c *Client) trust(h Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = h.Version
	c.trusted = time.Time{}
	c.seen = h.Ours && !h.Unseen
	if h.Ours {
		c.trusted = c.opts.Now().Add(trustFor)
	}
}

// ErrNotOurs is the reason when a daemon that nobody configured answers, but
// serves another folder than ours: another user's daemon, or another profile's.
var ErrNotOurs = errors.New("the daemon serves another folder")
