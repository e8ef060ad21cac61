package view

import (
	"crypto/subtle"
	"html/template"
	"io"
	"net/http"
)

const cookieName = "signet-view"

// enter answers a request with the key of the printed address: it exchanges the key for a cookie, once. The address
// bar, the history and the shell's window show the key, and nothing shows the cookie. The page lies below a path of its
// own, for browsers send a cookie to every port of a host.
func (l *Live) enter(w http.ResponseWriter, r *http.Request) {
	if !l.entered.CompareAndSwap(false, true) {
		http.Error(w, "this address was used already; run view --live again", http.StatusForbidden)
		return
	}
	// not strict: the first page may be a file's, which counts as another site
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: l.cookie, Path: "/" + l.folder + "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/"+l.folder+"/", http.StatusSeeOther)
}

// same compares secrets in the same time whatever they have in common.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// WriteRedirect writes a page that leads to an address: a browser is started with the page's file, because every
// process of the machine can read what stands among a program's arguments.
func WriteRedirect(w io.Writer, address string) error { return redirect.Execute(w, address) }

var redirect = template.Must(template.New("").Parse(`<!DOCTYPE html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={{.}}">
<title>Signet</title>
<p><a href="{{.}}">Open the page</a></p>
`))

// admits reports whether a request comes from this page: it names this very host (which a page elsewhere with a name
// that resolves to loopback does not), has the cookie, asks for something in the page's folder, and was made by no
// other page. Only the page itself may be gone to from elsewhere, as the redirect page leads to it.
func (l *Live) admits(r *http.Request, folder, rest string) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	reads := r.Method == http.MethodGet
	goesTo := reads && rest == "" && r.Header.Get("Sec-Fetch-Dest") == "document"
	cookie, err := r.Cookie(cookieName)
	return err == nil && same(cookie.Value, l.cookie) && same(folder, l.folder) && r.Host == l.host &&
		(origin == "http://"+l.host || origin == "" && reads) &&
		(site == "" || site == "same-origin" || site == "none" && reads || goesTo)
}
