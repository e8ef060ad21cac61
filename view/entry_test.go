package view

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The token of the printed address is good for one request; from then on a cookie is.
func TestEntry(t *testing.T) {
	live := &Live{entry: &entry{}, host: "127.0.0.1:1", token: "TOKEN", watch: newWatch(Source{})}
	h := live.handler()
	var cookie *http.Cookie
	for _, step := range []struct {
		name, path string
		with       bool // the cookie, if there is one
		want       int
	}{
		{"nothing", "/parts/none", true, 403},
		{"a cookie that was made up", "/parts/none", true, 403},
		{"the token further below", "/TOKEN/parts/none", true, 403},
		{"the token", "/TOKEN/", true, 303},
		{"the cookie", "/parts/none", true, 404},
		{"the token again", "/TOKEN/", false, 403},
		{"no cookie", "/parts/none", false, 403},
		{"the cookie again", "/parts/none", true, 404},
	} {
		r := httptest.NewRequest("GET", "http://127.0.0.1:1"+step.path, nil)
		switch {
		case step.with && cookie != nil:
			r.AddCookie(cookie)
		case step.name == "a cookie that was made up":
			r.AddCookie(&http.Cookie{Name: cookieName, Value: ""})
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != step.want {
			t.Errorf("%s: %d %s", step.name, w.Code, w.Body)
		}
		for _, cookie = range w.Result().Cookies() {
			if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || w.Header().Get("Location") != "/" {
				t.Errorf("%s: %v, to %q", step.name, cookie, w.Header().Get("Location"))
			}
		}
	}
}
