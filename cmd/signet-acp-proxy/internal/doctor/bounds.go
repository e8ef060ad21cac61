package doctor

import (
	"fmt"
	goruntime "runtime"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
)

// maxSockets is how many sockets are named.
const maxSockets = 12

// bounds says whether the system keeps children to what they are given and, where it does not, what they reach.
func (e *examination) bounds() []finding {
	if !e.c.Delegation || goruntime.GOOS != "linux" {
		return nil
	}
	return boundsFinding(bounds.Check(), e.c.Unbounded, bounds.Sockets())
}

func boundsFinding(err error, unbounded bool, sockets []string) []finding {
	if err == nil {
		return fine("delegated agents are confined")
	}
	reach := "no socket"
	if len(sockets) > 0 {
		more := ""
		if n := len(sockets) - maxSockets; n > 0 {
			sockets, more = sockets[:maxSockets], fmt.Sprintf(" and %d more", n)
		}
		reach = strings.Join(sockets, ", ") + more
	}
	if unbounded {
		return note("set delegation_unbounded: false, or use a newer kernel",
			"delegated agents are not confined (%v); they reach %s", err, reach)
	}
	return problem("use a newer kernel, or set delegation_unbounded: true to give them all your access",
		"delegation is refused, because delegated agents cannot be confined (%v); they would reach %s",
		err, reach)
}
