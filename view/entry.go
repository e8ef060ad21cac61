package view

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/socket"
)

// An entry exchanges the token of the first address for a cookie, once: where the user at the other end of a connection
// is not known, a token in the address bar, the history or the browser's arguments would let others in.
type entry struct {
	mu     sync.Mutex
	cookie string // "": the token was not used yet
}

// cookieName: browsers send a cookie to every port of a host, so it is for this program alone by its value.
const cookieName = "signet-view"

// enter answers the first request with the token.
func (e *entry) enter(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cookie != "" {
		http.Error(w, "this address was used already; run view --live again", http.StatusForbidden)
		return
	}
	e.cookie = rand.Text()
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: e.cookie, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (e *entry) admits(r *http.Request) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := r.Cookie(cookieName)
	return err == nil && e.cookie != "" && same(c.Value, e.cookie)
}

// same compares secrets in the same time whatever they have in common.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// sameUserListener accepts only connections from processes of our own user or of root, as far as the system tells.
type sameUserListener struct{ net.Listener }

// Accept closes all other connections.
func (l sameUserListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || sameUser(c.RemoteAddr()) {
			return c, err
		}
		_ = c.Close()
	}
}

// peersKnown: the system says whose the other end of a connection is. Where it does not, the token is good for one
// request.
const peersKnown = runtime.GOOS == "linux"

// sameUser reports whether the other end of a connection over loopback is a process of our own user or of root, as far
// as the system tells.
func sameUser(peer net.Addr) bool {
	address, ok := peer.(*net.TCPAddr)
	if !ok || address.IP.To4() == nil {
		return false
	}
	user, found, err := socket.User(address.AddrPort())
	if err != nil {
		return true // it cannot be known, and the token must do
	}
	return found && (user == 0 || user == os.Getuid())
}
