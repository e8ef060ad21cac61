package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
)

// tokens are what clients show to reach the endpoint of their session. They are found by their hashes, so that the time
// of a comparison tells nothing about them.
type tokens struct {
	mu   sync.Mutex
	ends map[[sha256.Size]byte]*endpoint
}

// issue returns a new token of an endpoint.
func (t *tokens) issue(e *endpoint) (token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends == nil {
		t.ends = map[[sha256.Size]byte]*endpoint{}
	}
	token = rand.Text()
	t.ends[sha256.Sum256([]byte(token))] = e
	return token
}

// endpoint returns the endpoint of a token, nil where it is no token.
func (t *tokens) endpoint(token string) *endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ends[sha256.Sum256([]byte(token))]
}

// revoke makes a token invalid, and returns its endpoint.
func (t *tokens) revoke(token string) *endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	hash := sha256.Sum256([]byte(token))
	e := t.ends[hash]
	delete(t.ends, hash)
	return e
}

// all returns the endpoints that have a token.
func (t *tokens) all() []*endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.ends))
}
