package signet

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
)

// Health is what a daemon says of itself.
type Health struct {
	Version   string
	Status    string // "healthy", "degraded", "shutting_down"
	AgentsDir string // the folder that it serves
	// Newer: it keeps whole transcripts by session, takes them inline, and ends a
	// session once. By version, since /health has no better sign.
	Newer bool
	// Ours: AgentsDir is our SignetPath, symlinks resolved. A configured daemon
	// is used even if it is not.
	Ours bool
}

// Health asks the daemon who it is. Errors wrap memory.ErrUnavailable; a
// *StatusError with 401 is team mode without a token that it takes.
func (c *Client) Health(ctx context.Context) (Health, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var r struct{ Status, Version, AgentsDir string }
	if err := c.get(ctx, "/health", &r); err != nil {
		return Health{}, unavailable(err)
	}
	if r.Status == "" && r.Version == "" {
		return Health{}, unavailable(errGarbage)
	}
	h := Health{
		Version:   clip(r.Version, 64),
		Status:    clip(r.Status, 64),
		AgentsDir: r.AgentsDir,
		Newer:     newer(r.Version),
		Ours:      samePath(r.AgentsDir, c.opts.SignetPath),
	}
	c.trust(h)
	return h, nil
}

// newer reports a version from 0.96.0 on, in which upstream's #466 "harden
// transcript capture" came. What is no version counts as old: the old rules
// lose nothing on a new daemon, the new ones do on an old one.
func newer(version string) bool {
	major, rest, ok := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if !ok {
		return false
	}
	minor, _, _ := strings.Cut(rest, ".")
	ma, err1 := strconv.Atoi(major)
	mi, err2 := strconv.Atoi(minor)
	return err1 == nil && err2 == nil && ma >= 0 && (ma > 0 || mi >= 96)
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
