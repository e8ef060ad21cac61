package embedded

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// An identityFile is one of the person's own files, and how many tokens of it are told.
type identityFile struct {
	name   string
	tokens int
}

// namedTokens is how many tokens are told of a file that the person named in the settings and that is not among
// identityFiles.
const namedTokens = 1000

// identityFiles are the person's own files in the order in which they are told, with the tokens of each. What one
// leaves goes to those after it.
var identityFiles = []identityFile{
	{"IDENTITY.md", 1000},
	{"USER.md", 1000},
	{"SOUL.md", 700},
	{"AGENTS.md", 1000},
	{"MEMORY.md", 300},
}

// Identity returns the person's own files. Missing ones are skipped, and so is one that the session's harness reads by
// itself. The same files give the same text, byte for byte.
func (s *Store) Identity(session memory.Session) memory.Context {
	guard.Point("identity")
	c := memory.Context{Source: memory.FromEmbedded}
	if s.opts.SignetPath == "" {
		return c
	}
	known := harnessReads(session.Harness, session.Cwd)
	var b strings.Builder
	left := 0
	for _, f := range s.identityFiles() {
		left += f.tokens
		text, err := files.Text(filepath.Join(s.opts.SignetPath, f.name), identityBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.opts.Log.Info().Err(err).Str("file", f.name).Msg("identity file left out")
		}
		if stands(text, known) {
			continue
		}
		if text = memory.WithoutComment(text); text == "" {
			continue
		}
		heading := "# " + f.name + "\n"
		text = heading + memory.FitLines(text, left-memory.Tokens(heading)-1) + "\n"
		left -= memory.Tokens(text)
		b.WriteString(text)
	}
	c.Identity = b.String()
	return c
}

// identityFiles returns the files that are read: those that the person named in the settings, if they lie in the Signet
// folder, or the usual ones.
func (s *Store) identityFiles() []identityFile {
	if s.opts.Files == nil {
		return identityFiles
	}
	var named []identityFile
	for _, name := range s.opts.Files {
		if !filepath.IsLocal(name) {
			s.opts.Log.Info().Str("file", name).Msg("identity file left out: it is not in the Signet folder")
			continue
		}
		f := identityFile{name, namedTokens}
		for _, known := range identityFiles {
			if known.name == name {
				f = known
			}
		}
		named = append(named, f)
	}
	return named
}
