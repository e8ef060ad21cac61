package view

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/socket"
)

// Live serves a page on loopback while a browser window shows it, and tells the window what has changed.
type Live struct {
	Source
	Opened func(address string) error // called once the page is served; its error ends Serve
	Grace  time.Duration              // how long it serves on after the last window, which may be reloading; 0: 3 s

	// Changes are what a person can do to a memory, by the names in the page's requests; text is what it is to say.
	Changes map[string]func(ctx context.Context, id, text string) error
	Undo    func(ctx context.Context) error                    // of what was forgotten last
	End     func(ctx context.Context, delegation string) error // of a delegation that is being worked on

	host, key, folder, cookie string // key is of the printed address, folder is the page's
	entered                   atomic.Bool
	watch                     *watch
}

const (
	headerTime = 10 * time.Second
	shutdown   = 2 * time.Second // for requests that are under way at the end
)

// Serve serves until the last window has closed or ctx ends, which is no error.
func (l *Live) Serve(ctx context.Context) error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening on loopback: %w", err)
	}
	l.host = listener.Addr().String()
	l.key, l.folder, l.cookie = rand.Text(), rand.Text(), rand.Text()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.watch = &watch{src: l.Source, windows: map[chan string]bool{}, windowsChanged: make(chan struct{})}
	watched := make(chan struct{})
	guard.Go("page", func() {
		defer close(watched)
		l.watch.run(ctx)
	})
	server := &http.Server{Handler: l.handler(), ReadHeaderTimeout: headerTime,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan error, 1)
	guard.Go("page", func() { served <- server.Serve(socket.SameUser(listener)) })
	if err = l.Opened("http://" + l.host + "/" + l.key + "/"); err == nil {
		l.watch.untilLeft(ctx, cmp.Or(l.Grace, 3*time.Second))
	}
	cancel() // ends the windows' event streams
	<-watched
	closing, stop := context.WithTimeout(context.Background(), shutdown)
	defer stop()
	if server.Shutdown(closing) != nil {
		err = errors.Join(err, server.Close())
	}
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// handler answers requests that come from this page.
func (l *Live) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", l.page)
	mux.HandleFunc("GET /parts/{part}", l.part)
	mux.HandleFunc("POST /undo", func(w http.ResponseWriter, r *http.Request) {
		l.answer(w, "memories", l.Undo(r.Context()))
	})
	mux.HandleFunc("GET /sessions/{id}", l.session)
	mux.HandleFunc("GET /changes", l.watch.stream)
	mux.HandleFunc("POST /memories/{id}/{change}", l.change)
	mux.HandleFunc("POST /delegations/{id}/end", func(w http.ResponseWriter, r *http.Request) {
		l.answer(w, "sessions", l.End(r.Context(), r.PathValue("id")))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		folder, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case r.Host == l.host && r.Method == http.MethodGet && same(folder, l.key) && rest == "":
			l.enter(w, r)
			return
		case !l.admits(r, folder, rest):
			http.Error(w, "access denied", http.StatusForbidden)
			return
		}
		h.Set("Content-Security-Policy", policy(true)+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		r.URL.Path, r.URL.RawPath = "/"+rest, ""
		if !guard.Run("page", func() { mux.ServeHTTP(w, r) }) {
			http.Error(w, guard.ErrPanicked.Error(), http.StatusInternalServerError)
		}
	})
}

// page writes the page with the beginning of its list, whatever its address asks for: the browser keeps that to itself,
// and asks for the rest.
func (l *Live) page(w http.ResponseWriter, r *http.Request) {
	p := newPage(l.Source, true)
	err := p.readRows(r.Context(), query{})
	if err == nil {
		p.AllMemories, err = l.Memories.Count(r.Context())
	}
	show(w, err, p.Write)
}

func (l *Live) part(w http.ResponseWriter, r *http.Request) {
	p, q, ctx := newPage(l.Source, true), queryOf(r.URL.Query()), r.Context()
	name := r.PathValue("part")
	var err error
	switch name {
	case partRows:
		err = p.readRows(ctx, q)
	case partOverview:
		err = p.readOverview(ctx)
	case partMemories:
		err = p.readSomeMemories(ctx, q)
	case partUsage:
		err = p.readUsage(ctx)
	default:
		err = correlation.ErrNotFound
	}
	show(w, err, func(w io.Writer) error { return p.writePart(w, name, p) })
}

// session writes one session.
func (l *Live) session(w http.ResponseWriter, r *http.Request) {
	p := newPage(l.Source, true)
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		err = correlation.ErrNotFound
	} else {
		err = p.readOne(r.Context(), id)
	}
	show(w, err, func(w io.Writer) error { return p.writePart(w, "session", p.byID[id]) })
}

// show has write write what was read, unless it could not be.
func show(w http.ResponseWriter, err error, write func(io.Writer) error) {
	guard.Point("page")
	switch {
	case errors.Is(err, correlation.ErrNotFound):
		http.Error(w, "404 page not found", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = write(w) // who asked has gone
	}
}

func (l *Live) change(w http.ResponseWriter, r *http.Request) {
	var body struct{ Text string }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4*embedded.MaxContent)).Decode(&body)
	if err != nil {
		http.Error(w, "unknown change", http.StatusBadRequest)
		return
	}
	change, known := l.Changes[r.PathValue("change")]
	if !known {
		http.NotFound(w, r)
		return
	}
	l.answer(w, "memories", change(r.Context(), r.PathValue("id"), body.Text))
}

// answer answers a change of memories or sessions, and tells the windows of it.
func (l *Live) answer(w http.ResponseWriter, what string, err error) {
	switch {
	case errors.Is(err, embedded.ErrNotFound):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		l.watch.changed(what)
		w.WriteHeader(http.StatusNoContent)
	}
}
