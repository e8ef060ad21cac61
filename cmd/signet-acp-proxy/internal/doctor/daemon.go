package doctor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// daemonTime is how long the daemon may take to answer; longer where prompts are held longer.
const daemonTime = 3 * time.Second

// daemon checks whether the daemon answers, and whether it accepts our token.
func (e *examination) daemon(ctx context.Context) []finding {
	c := e.c
	if c.Memory == "embedded" || c.Memory == "off" {
		return fine("not used: memory is %s", c.Memory)
	}
	client, err := runtime.NewDaemon(c, config.Token(), zerolog.Nop())
	if err != nil {
		return problem("correct daemon_url, see signet-acp-proxy config show", "%v", err)
	}
	defer client.Close()
	url := client.URL()
	limit := max(daemonTime, c.Hold)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var health signet.Health
	err = dial(ctx, url)
	absent := err != nil
	if !absent {
		health, err = client.Present(ctx)
		absent = errors.Is(err, syscall.ECONNREFUSED) // it has just ended
	}
	if absent {
		instead := "using the embedded memory"
		if c.Memory == "daemon" {
			instead = "agents get only the identity files; deliveries wait"
		}
		return e.withoutDaemon("start it, or correct daemon_url, see signet-acp-proxy config show",
			"optional: start it to use its memory", "no daemon at %s: %s", url, instead)
	}
	if err == nil {
		_, err = client.List(ctx, 1, 0, "") // any call that needs the token
		var answered *signet.StatusError
		if errors.As(err, &answered) && !refuses(answered) {
			err = nil
		}
	}
	switch {
	case err == nil:
		return append(e.daemonAnswers(url, health), jobs(ctx, client)...)
	case errors.Is(err, signet.ErrNotOurs):
		const fix = "if it is yours, set SIGNET_PATH to its folder or name it in daemon_url"
		return e.withoutDaemon(fix, fix, "the daemon at %s serves %s, not %s: it is not used", url, health.AgentsDir,
			c.SignetPath)
	}
	return daemonFails(ctx, url, limit, err)
}

// daemonFails says what is wrong with a daemon that listens and does not do what we ask.
func daemonFails(ctx context.Context, url string, limit time.Duration, err error) []finding {
	const fix = "set SIGNET_API_KEY to a key of this daemon"
	var answered *signet.StatusError
	switch {
	case errors.As(err, &answered) && refuses(answered) && config.Token() == "":
		return problem(fix, "%s needs a token", url)
	case answered != nil && refuses(answered):
		return problem(fix+"; what SIGNET_API_KEY or SIGNET_TOKEN holds is wrong or expired",
			"%s rejects the token: %v", url, answered)
	case answered != nil:
		return problem("check the daemon's log", "%s: %v", url, answered)
	case ctx.Err() != nil:
		return problem("restart it: it hangs", "%s accepts connections but does not answer within %v", url, limit)
	case errors.Is(err, signet.ErrOtherUser):
		return problem("check what listens there; to use it, set daemon_url",
			"%s belongs to another user; it is not used", url)
	}
	return problem("check what listens there", "%s does not answer as a Signet daemon does: %v", url, err)
}

// withoutDaemon is a problem if a person has asked for the daemon, else a note.
func (e *examination) withoutDaemon(asked, unasked, format string, args ...any) []finding {
	if e.c.Memory == "auto" && !e.c.DaemonConfigured {
		return note(unasked, format, args...)
	}
	return problem(asked, format, args...)
}

// refuses reports whether the daemon wants another token.
func refuses(answered *signet.StatusError) bool {
	return answered.Code == http.StatusUnauthorized || answered.Code == http.StatusForbidden
}

// daemonAnswers says what a daemon that takes our calls is like.
func (e *examination) daemonAnswers(url string, health signet.Health) []finding {
	if health.Status != "healthy" {
		return note("check the daemon's log", "version %s at %s says that it is %s", health.Version, url,
			health.Status)
	}
	found := fine("version %s at %s", health.Version, url)
	if !health.Ours {
		found = append(found, note("", "it serves %s, not %s; used because daemon_url names it", health.AgentsDir,
			e.c.SignetPath)...)
	}
	if health.OwnerUnknown && !e.c.DaemonConfigured && config.Token() != "" {
		found = append(found, note("set daemon_url if it needs one",
			"cannot tell who listens there, so the token is not sent")...)
	}
	return found
}

// jobs says whether the daemon's jobs die, as they do without a working model: it answers all the same.
func jobs(ctx context.Context, client *signet.Client) []finding {
	p, err := client.Pipeline(ctx, "")
	if err != nil || p.Dead == 0 { // a daemon may not tell
		return nil
	}
	why := ""
	if p.Why != "" {
		why = ": " + p.Why
	}
	return note("give it a working model: its log says what fails",
		"%d of its %s died, so it has no memories of these conversations%s", p.Dead,
		term.Count(p.Waiting+p.Done+p.Dead, "job"), why)
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
