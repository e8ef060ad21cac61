package doctor

import "github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"

// An examination is what the checks share.
type examination struct {
	c        *config.Config
	full     bool
	step     func(string)
	timeouts timeouts // of each harness
}
