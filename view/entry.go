package view

import (
	"crypto/rand"
	"net/http"
	"sync"
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
