package signet

import (
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/socket"
)

// Any user of this machine can listen on the daemon's port and claim to serve our folder. Only the system knows who
// does, and only Linux tells.

// ErrOtherUser is the reason when another user's process listens where a daemon would, and nobody configured that
// address.
var ErrOtherUser = errors.New("another user listens there")

// An owner is what is known of who listens at a daemon's address.
type owner int

const (
	ownerUnknown owner = iota // the system does not tell, or it is no address of this machine
	ownerOurs                 // our own user, or root
	ownerOther                // somebody else
	ownerNobody               // nobody listens there
)

// ownerOf says who listens at a daemon's origin.
func ownerOf(base *url.URL) owner {
	port, err := strconv.Atoi(base.Port())
	if err != nil || !loopback(base.Hostname()) {
		return ownerUnknown
	}
	uids, err := socket.Listeners(port)
	if err != nil {
		return ownerUnknown
	}
	found := ownerNobody
	for _, uid := range uids { // one on each of several addresses: we do not know which is reached
		if uid != 0 && uid != os.Getuid() {
			return ownerOther
		}
		found = ownerOurs
	}
	return found
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
