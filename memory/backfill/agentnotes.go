package backfill

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// An AgentNote is a list item or a paragraph of a file that an agent reads at the start of each session (CLAUDE.md,
// AGENTS.md, the agent's own memory files), without secrets.
type AgentNote struct {
	ID         string // a digest of agent, file and text: the same as long as the text stands in the file
	Agent      string
	File       string
	Line       int    // from 1
	Heading    string // that it stands under
	Text       string
	Cwd        string // the folder that it is about; "" for any
	CwdUnknown bool   // it is about one folder, and nobody knows which
	ByAgent    bool   // the agent wrote it, not the user
	Written    time.Time
}

// noteFiles are where agents keep notes, below their folder.
var noteFiles = []struct {
	agent, variable, folder string
	files                   []string
	byAgent                 bool
}{
	{"claude", "CLAUDE_CONFIG_DIR", ".claude", []string{"CLAUDE.md", "rules/*.md", "rules/*/*.md"}, false},
	{"claude", "CLAUDE_CONFIG_DIR", ".claude", []string{"projects/*/memory/*.md"}, true},
	{"codex", "CODEX_HOME", ".codex", []string{"AGENTS.md", "AGENTS.override.md"}, false},
	{"codex", "CODEX_HOME", ".codex", []string{"memories/MEMORY.md", "memories/memory_summary.md"}, true},
}

const (
	maxNoteFile  = 1 << 20 // bytes of a file of notes; the rest is not read
	maxNote      = 4 << 10 // bytes of a note; a longer paragraph is none
	minNoteWords = 3       // words
)

// AgentNotes reads the notes of Claude Code and Codex. here is the working directory of whoever asks: Claude names its
// folders in a way that cannot be turned back into a path, but a path can be compared with it.
func AgentNotes(p Place, here string) (all []AgentNote, skipped []Skip) {
	for _, of := range noteFiles {
		for _, pattern := range of.files {
			root := globEscape(p.env(of.variable, of.folder))
			names, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern))) // the patterns are valid
			for _, name := range names {
				found, err := notesIn(name, of.byAgent)
				if err != nil {
					skipped = append(skipped, Skip{name, "it cannot be read: " + reason(err)})
				}
				cwd, isProject := "", strings.HasPrefix(pattern, "projects/")
				if isProject && len(found) > 0 {
					cwd = claudeFolder(filepath.Dir(filepath.Dir(name)), here)
				}
				for _, n := range found {
					n.Agent, n.File, n.ByAgent, n.Written = of.agent, name, of.byAgent, modified(name).UTC()
					n.Cwd, n.CwdUnknown = cmp.Or(cwd, n.Cwd), isProject && cwd == ""
					sum := sha256.Sum256([]byte(n.Agent + "\x00" + n.File + "\x00" + n.Text))
					n.ID = hex.EncodeToString(sum[:6])
					all = append(all, n)
				}
			}
		}
	}
	return all, skipped
}

// notesIn returns the notes of a file; people link these to where they keep such files.
func notesIn(name string, byAgent bool) ([]AgentNote, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case !files.Ours(info):
		return nil, errors.New("it belongs to another user")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxNoteFile)
	r := noteReader{byAgent: byAgent}
	for size := 0; lines.Scan(); {
		if size += len(lines.Bytes()) + 1; size > maxNoteFile {
			break
		}
		r.take(strings.TrimSpace(lines.Text()))
	}
	r.end()
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return r.notes, nil
}

// A noteReader cuts Markdown into list items and paragraphs. Headings, code, comments and front matter (between lines
// of ---) are none. Files that an agent wrote may have front matter before each part, and lists of sources under
// metaHeadings.
type noteReader struct {
	byAgent bool
	notes   []AgentNote

	at      int      // number of the line
	last    string   // the line before
	until   string   // what the line begins with that ends code or front matter; "": in neither
	heading string   // over the lines
	about   string   // the folder that they are about
	began   int      // the number of the first of lines
	lines   []string // of the note that has not ended
}

// take takes the next line, trimmed.
func (r *noteReader) take(line string) {
	r.at++
	item := listItem().FindStringSubmatch(line)
	folder := aboutFolder().FindStringSubmatch(line)
	switch {
	case r.until != "":
		if strings.HasPrefix(line, r.until) {
			r.until = ""
		}
	case line == "---" && r.at == 1, r.byAgent && r.last == "---" && frontMatterLine().MatchString(line):
		r.until = "---"
	case codeFence().MatchString(line):
		r.end()
		r.until = line[:3]
	case endOfNote().MatchString(line):
		r.end()
	case r.byAgent && folder != nil:
		if r.about = folder[1]; !filepath.IsAbs(r.about) {
			r.about = ""
		}
	case strings.HasPrefix(line, "#"):
		r.end()
		if strings.HasPrefix(line, "# ") {
			r.about = ""
		}
		r.heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
	case item != nil:
		r.end()
		r.add(item[1])
	default:
		r.add(line)
	}
	r.last = line
}

func (r *noteReader) add(line string) {
	if len(r.lines) == 0 {
		r.began = r.at
	}
	r.lines = append(r.lines, line)
}

// end ends a note.
func (r *noteReader) end() {
	text := strings.TrimSpace(privacy.Clean(strings.Join(r.lines, " "), nil))
	r.lines = r.lines[:0]
	words := strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	if len(words) >= minNoteWords && len(text) <= maxNote && !slices.Contains(metaHeadings, r.heading) {
		r.notes = append(r.notes, AgentNote{Line: r.began, Heading: r.heading, Text: text, Cwd: r.about})
	}
}

// metaHeadings are headings under which Codex lists where its notes come from, and words to find them by.
var metaHeadings = []string{"rollout_summary_files", "keywords"}

var (
	listItem        = pattern.New(`^(?:[-*+]|\d+\.) \s*(.*)$`)
	codeFence       = pattern.New("^(?:```|~~~)")
	endOfNote       = pattern.New(`^(?:$|---$|<!--)`)
	frontMatterLine = pattern.New(`^[a-z_-]+:( |$)`) // the first one, "key: value"
	// Of several folders that a part of Codex's notes is about the first counts.
	aboutFolder = pattern.New(`^applies_to: cwd=(.*?)\s*(?:;.*| and /.*|$)`)
)

// claudeFolder returns the working directory that a folder of Claude's (~/.claude/projects/NAME) belongs to: the one
// that its conversations name, else here, if NAME is made of it; else "".
func claudeFolder(dir, here string) string {
	files, _ := filepath.Glob(filepath.Join(globEscape(dir), "*.jsonl"))
	for _, name := range files[:min(len(files), 3)] {
		if cwd := firstCwd(name); cwd != "" {
			return cwd
		}
	}
	slug := strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, here)
	if here != "" && filepath.Base(dir) == slug {
		return here
	}
	return ""
}

// firstCwd returns the first working directory that the beginning of a conversation's file names.
func firstCwd(name string) string {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := f.Read(head)
	for line := range strings.Lines(string(head[:n])) {
		var v struct {
			Cwd string `json:"cwd"`
		}
		if json.Unmarshal([]byte(line), &v) == nil && v.Cwd != "" {
			return v.Cwd
		}
	}
	return ""
}

// FindAgentNote returns the note that a person names: by its id or the beginning of it, by FILE:LINE, or by its text.
// ok is false when none or more than one has that name.
func FindAgentNote(all []AgentNote, name string) (n AgentNote, ok bool) {
	found := slices.DeleteFunc(slices.Clone(all), func(n AgentNote) bool {
		place := fmt.Sprintf("%s:%d", n.File, n.Line)
		return name == "" || !strings.HasPrefix(n.ID, name) && place != name && n.Text != strings.TrimSpace(name)
	})
	if len(found) != 1 {
		return AgentNote{}, false
	}
	return found[0], true
}
