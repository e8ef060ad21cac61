package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// roundTripper is an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A request that a stalled daemon does not answer ends with the session.
func TestStalledRequestEnds(t *testing.T) {
	open, hangUp := context.WithCancel(t.Context())
	asked := make(chan struct{})
	stalled := roundTripper(func(r *http.Request) (*http.Response, error) {
		close(asked)
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	go func() {
		<-asked
		hangUp()
	}()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (onBehalf{stalled, robin(), open}).RoundTrip(r); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want canceled", err)
	}
}
