package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// daemonTime is how long the daemon may take to answer; longer where prompts are held longer.
const daemonTime = 3 * time.Second

// daemon checks whether the daemon answers, and whether it accepts our token.
func (e *examination) daemon(ctx context.Context) []Finding {
	const check = "daemon"
	c := e.c
	if c.Memory == "embedded" || c.Memory == "off" {
		return []Finding{{check, Fine, "not used: memory is " + c.Memory, ""}}
	}
	client, err := runtime.NewDaemon(c, config.Token(), zerolog.Nop())
	if err != nil {
		return []Finding{{check, Problem, err.Error(), "correct daemon_url, see signet-acp-proxy config show"}}
	}
	defer client.Close()
	url := client.URL()
	missing, without := Problem, "start it, or correct daemon_url, see signet-acp-proxy config show"
	if c.Memory == "auto" && !c.DaemonConfigured { // nobody has configured one
		missing, without = Note, "for the daemon's memory start it; without it this works as it is"
	}
	limit := max(daemonTime, c.Hold)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := dial(ctx, url); err != nil {
		instead := "the embedded memory is used"
		if c.Memory == "daemon" {
			instead = "agents get the identity files alone, and what is owed to it waits"
		}
		return []Finding{{check, missing, "no daemon at " + url + ": " + instead, without}}
	}
	health, err := client.Present(ctx)
	if err == nil {
		_, err = client.List(ctx, 1, 0, "") // any call that needs the token
		if answered := new(signet.StatusError); errors.As(err, &answered) && answered.Code != http.StatusUnauthorized &&
			answered.Code != http.StatusForbidden {
			err = nil
		}
	}
	var answered *signet.StatusError
	switch {
	case errors.As(err, &answered) &&
		(answered.Code == http.StatusUnauthorized || answered.Code == http.StatusForbidden):
		fix := "set SIGNET_API_KEY to a key of this daemon"
		if config.Token() == "" {
			return []Finding{{check, Problem, url + " wants a token, and there is none", fix}}
		}
		return []Finding{{check, Problem, fmt.Sprintf("%s does not take the token: %v", url, answered),
			fix + "; what SIGNET_API_KEY or SIGNET_TOKEN holds is wrong or expired"}}
	case answered != nil:
		return []Finding{{check, Problem, fmt.Sprintf("%s: %v", url, answered), "look into the daemon's log"}}
	case ctx.Err() != nil:
		return []Finding{{check, Problem, fmt.Sprintf("%s takes connections and does not answer within %v", url,
			limit), "restart it: it hangs"}}
	case errors.Is(err, signet.ErrOtherUser):
		return []Finding{{check, Problem,
			url + " belongs to another user: nothing is told to it, and nothing of it is used",
			"see who listens there; if it is to be used, name it in daemon_url"}}
	case errors.Is(err, signet.ErrNotOurs):
		return []Finding{{check, missing, fmt.Sprintf("the daemon at %s serves %s, not %s: it is not used", url,
			health.AgentsDir, c.SignetPath), "if it is yours, set SIGNET_PATH to its folder or name it in daemon_url"}}
	case err != nil:
		return []Finding{{check, Problem, fmt.Sprintf("%s does not answer as a Signet daemon does: %v", url, err),
			"see what listens there"}}
	case health.Status != "healthy":
		return []Finding{{check, Note, fmt.Sprintf("version %s at %s says that it is %s", health.Version, url,
			health.Status), "look into the daemon's log"}}
	}
	found := []Finding{{check, Fine, fmt.Sprintf("version %s at %s", health.Version, url), ""}}
	if !health.Ours {
		found = append(found, Finding{check, Note, fmt.Sprintf("it serves %s, not %s; it is used because it was named",
			health.AgentsDir, c.SignetPath), ""})
	}
	if health.OwnerUnknown && !c.DaemonConfigured && config.Token() != "" {
		found = append(found, Finding{check, Note, "who listens there is not known here, so the token is not sent",
			"name the daemon in daemon_url if it wants one"})
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
