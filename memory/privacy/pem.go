package privacy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// pem finds private keys in PEM blocks, also those cut off before their end or with "\n" written out for line ends, and
// notes the blocks that are public.
func (f *findings) pem(text string) {
	for i := 0; ; {
		at := pemBegin().FindStringSubmatchIndex(text[i:])
		if at == nil {
			return
		}
		start, body := i+at[0], i+at[1]
		label := text[i+at[2] : i+at[3]]
		end := body
		if n := strings.Index(text[body:min(len(text), body+maxPEM)], "-----END "+label+"-----"); n >= 0 {
			end = body + n + len("-----END "+label+"-----")
		} else {
			end = body + len(pemBody().FindString(text[body:]))
			if len(text) < body+maxPEM || end == len(text) {
				f.wait(start, pemClose)
			}
		}
		i = end
		if end == body { // no body: a text about such headers
			continue
		}
		if strings.Contains(label, "PRIVATE") {
			f.add(start, end, "private-key")
		} else {
			f.public = append(f.public, finding{start: start, end: end})
		}
	}
}

const (
	maxPEM   = 32 << 10 // bytes of a block
	pemOpen  = "-----BEGIN "
	pemClose = "-----END "
)

var (
	pemEnd   = pattern.New(`^-----END [A-Z0-9 ]{1,60}-----`)
	pemBegin = pattern.New(`-----BEGIN ([A-Z0-9 ]{1,60})-----`)
	pemBody  = pattern.New(`^(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n]*\n\s*)*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])*)*`)
)
