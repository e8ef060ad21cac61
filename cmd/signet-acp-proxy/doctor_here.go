package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// daemonTime is how long the daemon may take to say that it is there.
const daemonTime = 3 * time.Second

// daemon asks the daemon how it is, and whether it takes our token.
func (e *examination) daemon(ctx context.Context) []finding {
	const check = "daemon"
	c := e.c
	if c.Memory == "embedded" || c.Memory == "off" {
		return []finding{{check, fine, "not used: memory is " + c.Memory, ""}}
	}
	client, err := newDaemon(c, daemonToken(), zerolog.Nop())
	if err != nil {
		return []finding{{check, problem, err.Error(), "correct daemon_url, see signet-acp-proxy config show"}}
	}
	url := client.URL()
	missing, without := problem, "start it, or correct daemon_url, see signet-acp-proxy config show"
	if c.Memory == "auto" && !c.daemonConfigured { // nobody said that there is one
		missing, without = note, "for the daemon's memory start it; without it this works as it is"
	}
	ctx, cancel := context.WithTimeout(ctx, daemonTime)
	defer cancel()
	if err := dial(ctx, url); err != nil {
		return []finding{{check, missing, "no daemon at " + url + ": the embedded memory is used", without}}
	}
	health, err := client.Health(ctx)
	if err == nil && (health.Ours || c.daemonConfigured) {
		_, err = client.List(ctx, 1, 0, "") // asks for nothing but leave to ask
		if answered := new(signet.StatusError); errors.As(err, &answered) && answered.Code != http.StatusUnauthorized && answered.Code != http.StatusForbidden {
			err = nil
		}
	}
	var answered *signet.StatusError
	switch {
	case errors.As(err, &answered) && (answered.Code == http.StatusUnauthorized || answered.Code == http.StatusForbidden):
		fix := "set SIGNET_API_KEY to a key of this daemon"
		if daemonToken() == "" {
			return []finding{{check, problem, url + " wants a token, and there is none", fix}}
		}
		return []finding{{check, problem, fmt.Sprintf("%s does not take the token: %v", url, answered), fix + "; what SIGNET_API_KEY or SIGNET_TOKEN holds is wrong or expired"}}
	case answered != nil:
		return []finding{{check, problem, fmt.Sprintf("%s: %v", url, answered), "look into the daemon's log"}}
	case ctx.Err() != nil:
		return []finding{{check, problem, fmt.Sprintf("%s takes connections and does not answer within %v", url, daemonTime), "restart it: it hangs"}}
	case err != nil:
		return []finding{{check, problem, fmt.Sprintf("%s does not answer as a Signet daemon does: %v", url, err), "see what listens there"}}
	case !health.Ours && !c.daemonConfigured:
		return []finding{{check, missing, fmt.Sprintf("the daemon at %s serves %s, not %s: it is not used", url, health.AgentsDir, c.SignetPath), "if it is yours, set SIGNET_PATH to its folder or name it in daemon_url"}}
	case health.Status != "healthy":
		return []finding{{check, note, fmt.Sprintf("version %s at %s says that it is %s", health.Version, url, health.Status), "look into the daemon's log"}}
	}
	found := []finding{{check, fine, fmt.Sprintf("version %s at %s", health.Version, url), ""}}
	if !health.Ours {
		found = append(found, finding{check, note, fmt.Sprintf("it serves %s, not %s; it is used because it was named", health.AgentsDir, c.SignetPath), ""})
	}
	return found
}

// dial reports whether anything listens at an origin.
func dial(ctx context.Context, origin string) error {
	u, err := url.Parse(origin)
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// identityFindings looks at the person's own files.
func (c *Config) identityFindings() []finding {
	const check = "identity"
	var there []string
	var bad []finding
	for _, name := range identityNames {
		path := filepath.Join(c.SignetPath, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", path)
		}
		if err == nil {
			var f *os.File
			if f, err = os.Open(path); err == nil {
				_, err = f.Read(make([]byte, 1))
				if err = errors.Join(err, f.Close()); info.Size() == 0 {
					err = nil
				}
			}
		}
		if err != nil {
			bad = append(bad, finding{check, problem, "cannot be read: " + err.Error(), "give this user a file that it may read, or remove it"})
			continue
		}
		there = append(there, fmt.Sprintf("%s %d B", name, info.Size()))
	}
	if len(there) > 0 {
		return append(bad, finding{check, fine, strings.Join(there, ", "), ""})
	}
	if len(bad) == 0 {
		bad = append(bad, finding{check, note, "no identity files in " + c.SignetPath, "write who you are into IDENTITY.md and USER.md there"})
	}
	return bad
}

// permissionFindings looks for what others may read.
func (c *Config) permissionFindings() []finding {
	const check = "permissions"
	if runtime.GOOS == "windows" {
		return nil
	}
	dir := filepath.Join(c.SignetPath, "acp")
	var loose []string
	look := func(path string, mode fs.FileMode) {
		if mode.Perm()&0o077 != 0 && mode&fs.ModeSymlink == 0 {
			loose = append(loose, fmt.Sprintf("%s (%04o)", path, mode.Perm()))
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			look(path, info.Mode())
		}
		if errors.Is(err, fs.ErrNotExist) { // gone since
			err = nil
		}
		return err
	})
	if filepath.Dir(c.DB) != dir {
		if info, err := os.Stat(c.DB); err == nil {
			look(c.DB, info.Mode())
		}
	}
	switch {
	case len(loose) > 0:
		more := ""
		if n := len(loose) - 3; n > 0 {
			loose, more = loose[:3], fmt.Sprintf(" and %d more", n)
		}
		return []finding{{check, problem, "others may read what was said: " + strings.Join(loose, ", ") + more, "chmod -R go= " + dir + " " + c.DB}}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return []finding{{check, problem, err.Error(), "make the folder this user's own"}}
	}
	return []finding{{check, fine, "nobody else may read " + dir, ""}}
}

// database looks for damage and for what is owed.
func (e *examination) database(ctx context.Context) []finding {
	const check = "database"
	c := e.c
	if _, err := os.Stat(c.DB); errors.Is(err, fs.ErrNotExist) {
		return []finding{{check, fine, "none yet; the first session makes " + c.DB, ""}}
	}
	broken := func(err error) []finding {
		fix := "see docs/troubleshooting.md"
		if errors.Is(err, correlation.ErrCorrupt) {
			fix = "move " + c.DB + " away; a new one is begun"
		}
		return []finding{{check, problem, err.Error(), fix}}
	}
	d, err := openDesk(ctx, c, e.std)
	if err != nil {
		return broken(err)
	}
	defer d.close()
	var result string
	if err := d.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return broken(fmt.Errorf("database %s: %w", c.DB, correlation.Explain(err)))
	}
	if result != "ok" {
		return broken(fmt.Errorf("database %s: %w: %s", c.DB, correlation.ErrCorrupt, result))
	}
	sessions, err := d.sessions.Sessions(ctx, 0)
	if err != nil {
		return broken(err)
	}
	live := 0
	for _, s := range sessions {
		if s.Live {
			live++
		}
	}
	size := int64(0)
	if info, err := os.Stat(c.DB); err == nil {
		size = info.Size()
	}
	found := []finding{{check, fine, fmt.Sprintf("%s: whole, %d KiB, %s, %d live", c.DB, size/1024, count(len(sessions), "session"), live), ""}}
	owed, err := d.sessions.Outstanding(ctx)
	if err != nil {
		return broken(err)
	}
	return append(found, deliveryFindings(owed)...)
}

// deliveryFindings sums up what is owed.
func deliveryFindings(owed []correlation.Delivery) []finding {
	const check = "deliveries"
	var open, dead, unknown int
	var last string
	var oldest time.Time
	for _, v := range owed {
		switch {
		case v.Done.IsZero():
			if open++; oldest.IsZero() || v.Owed.Before(oldest) {
				oldest = v.Owed
			}
			if v.Error != "" {
				last = "; last error: " + v.Error
			}
		case v.State == correlation.Dead:
			dead++
		default:
			unknown++
		}
	}
	var found []finding
	if dead > 0 {
		found = append(found, finding{check, problem, count(dead, "delivery") + " given up after 14 days", "signet-acp-proxy show SESSION says why; the conversations are still here"})
	}
	if open > 0 {
		found = append(found, finding{check, note, count(open, "delivery") + " pending, the oldest since " + local(oldest) + last, "signet-acp-proxy deliver --wait"})
	}
	if unknown > 0 {
		found = append(found, finding{check, note, count(unknown, "delivery") + " without an answer from the daemon", "signet-acp-proxy show SESSION has the details"})
	}
	if len(found) == 0 {
		found = append(found, finding{check, fine, "nothing pending", ""})
	}
	return found
}

func searchFindings(c *Config) []finding {
	const check = "search"
	switch {
	case migrations.FTS5():
		return []finding{{check, fine, "full-text search is built in", ""}}
	case c.Memory == "daemon" || c.Memory == "off":
		return []finding{{check, note, "built without full-text search, which is not used", ""}}
	}
	return []finding{{check, problem, "built without full-text search (FTS5): nothing is recalled", "build with -tags sqlite_fts5"}}
}
