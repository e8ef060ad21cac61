package signet

import "net/http"

// identify sets the headers that say who asks, and shows the token where that is wanted and safe.
func (c *Client) identify(h http.Header, shown bool) {
	h.Set("User-Agent", "signet-acp-proxy")
	h.Set("X-Signet-Runtime-Path", "plugin")
	h.Set("X-Signet-Actor", "acp-proxy")
	h.Set("X-Signet-Actor-Type", "harness")
	if shown && c.tokenAllowed() && c.tokenSafe() {
		h.Set("Authorization", "Bearer "+c.opts.Token)
	}
}

// tokenSafe reports whether the token may be shown to who listens at the address: on loopback that may be any user, so
// it must be known to be ours or root, or a person named the address.
func (c *Client) tokenSafe() bool {
	if c.opts.Configured || !loopback(c.base.Hostname()) {
		return true
	}
	return c.presence.isOurs() || c.owner(c.base) == ownerOurs
}

// tokenAllowed reports whether the connection may carry the token: it never crosses a network unencrypted.
func (c *Client) tokenAllowed() bool {
	return c.opts.Token != "" && (c.base.Scheme == "https" || loopback(c.base.Hostname()))
}
