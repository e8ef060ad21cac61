package embedded

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// identityFiles are the person's own files in the order in which they are told.
var identityFiles = []string{"IDENTITY.md", "USER.md", "SOUL.md", "AGENTS.md", "MEMORY.md"}

// identityTokens are how many tokens are told of files; of any other it is fileTokens. What one leaves goes to those
// after it.
var identityTokens = map[string]int{"SOUL.md": 700, "MEMORY.md": 300}

const fileTokens = 1000

// Identity returns the person's own files. Missing ones are skipped, and so is one that the session's harness reads by
// itself. The same files give the same text, byte for byte.
func (s *Store) Identity(session memory.Session) memory.Context {
	guard.Point("identity")
	c := memory.Context{Source: memory.FromEmbedded}
	if s.opts.SignetPath == "" {
		return c
	}
	names := s.opts.Files
	if names == nil {
		names = identityFiles
	}
	known := harnessReads(session.Harness, session.Cwd)
	var b strings.Builder
	left := 0
	for _, name := range names {
		if !filepath.IsLocal(name) {
			s.opts.Log.Info().Str("file", name).Msg("identity file left out: it is not in the Signet folder")
			continue
		}
		left += cmp.Or(identityTokens[name], fileTokens)
		text, err := files.Text(filepath.Join(s.opts.SignetPath, name), identityBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.opts.Log.Info().Err(err).Str("file", name).Msg("identity file left out")
		}
		folded := chars.OneLine(text)
		if slices.ContainsFunc(known, func(read string) bool { // less than 80 bytes would be found in anything
			return read == folded || len(folded) >= 80 && strings.Contains(read, folded)
		}) {
			continue
		}
		if text = memory.WithoutComment(text); text == "" {
			continue
		}
		heading := "# " + name + "\n"
		text = heading + memory.FitLines(text, left-memory.Tokens(heading)-1) + "\n"
		left -= memory.Tokens(text)
		b.WriteString(text)
	}
	c.Identity = b.String()
	return c
}
