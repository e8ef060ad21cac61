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

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// A Note is a list item or a paragraph of a file that an agent reads at the start of each session (CLAUDE.md,
// AGENTS.md, the agent's own memory files), without secrets.
type Note struct {
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
	maxNotes     = 1 << 20 // bytes of a file of notes; the rest is not read
	maxNote      = 4 << 10 // bytes of a note; a longer paragraph is none
	minNoteWords = 3       // words
)

// Notes reads the notes of Claude Code and Codex. here is the working directory of whoever asks: Claude names its
// folders in a way that cannot be turned back into a path, but a path can be compared with it.
func Notes(p Place, here string) (all []Note, skipped []Skip) {
	for _, of := range noteFiles {
		root := p.env(of.variable, of.folder)
		for _, pattern := range of.files {
			names, err := filepath.Glob(filepath.Join(globEscape(root), filepath.FromSlash(pattern)))
			if err != nil {
				continue // there is no such folder
			}
			for _, name := range names {
				info, err := os.Stat(name) // people link these to where they keep such files
				switch {
				case err == nil && !info.Mode().IsRegular():
					err = errors.New("it is no file")
				case err == nil && !belongsToUser(info):
					err = errors.New("it belongs to another user")
				}
				var found []Note
				if err == nil {
					found, err = notesIn(name, of.byAgent)
				}
				if err != nil {
					skipped = append(skipped, Skip{name, "it cannot be read: " + reason(err)})
					continue
				}
				cwd, unknown := "", false
				if strings.HasPrefix(pattern, "projects/") {
					cwd = claudeFolder(filepath.Dir(filepath.Dir(name)), here)
					unknown = cwd == ""
				}
				for _, n := range found {
					n.Agent, n.File, n.ByAgent, n.Written = of.agent, name, of.byAgent, info.ModTime().UTC()
					n.Cwd, n.CwdUnknown = cmp.Or(cwd, n.Cwd), unknown
					sum := sha256.Sum256([]byte(n.Agent + "\x00" + n.File + "\x00" + n.Text))
					n.ID = hex.EncodeToString(sum[:6])
					all = append(all, n)
				}
			}
		}
	}
	return all, skipped
}

// globEscape returns a path as a glob that matches that path alone.
func globEscape(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// notesIn cuts a Markdown file into list items and paragraphs. Headings, code, comments and front matter (between lines
// of ---) are none. Files that an agent wrote may have front matter before each part, and lists of sources under
// metaHeadings.
func notesIn(name string, byAgent bool) ([]Note, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Note
	var lines []string
	var heading, fence, about, last string
	at, began, size, front := 0, 0, 0, false
	flush := func() {
		text := strings.TrimSpace(privacy.Clean(strings.Join(lines, " "), nil, false))
		lines = lines[:0]
		words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(words) >= minNoteWords && len(text) <= maxNote && !slices.Contains(metaHeadings, heading) {
			all = append(all, Note{Line: began, Heading: heading, Text: text, Cwd: about})
		}
	}
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, maxNotes)
	for ; scan.Scan(); last = strings.TrimSpace(scan.Text()) {
		at++
		if size += len(scan.Bytes()) + 1; size > maxNotes {
			break
		}
		line := strings.TrimSpace(scan.Text())
		mark := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		point, isPoint := cutListItem(line)
		folder, isAbout := strings.CutPrefix(line, "applies_to: cwd=")
		switch {
		case line == "---" && (at == 1 || front):
			front = at == 1
		case front:
		case fence != "":
			if mark && strings.HasPrefix(line, fence) {
				fence = ""
			}
		case mark:
			flush()
			fence = line[:3]
		case line == "" || line == "---" || strings.HasPrefix(line, "<!--"):
			flush()
		case byAgent && last == "---" && frontMatterLine().MatchString(line):
			front = true
		case byAgent && isAbout:
			about = folderOf(folder)
		case strings.HasPrefix(line, "#"):
			flush()
			if strings.HasPrefix(line, "# ") {
				about = ""
			}
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case isPoint:
			flush()
			lines, began = append(lines, point), at
		default:
			if len(lines) == 0 {
				began = at
			}
			lines = append(lines, line)
		}
	}
	flush()
	return all, scan.Err()
}

// metaHeadings are headings under which Codex lists where its notes come from, and words to find them by.
var metaHeadings = []string{"rollout_summary_files", "keywords"}

// frontMatterLine matches the first line of front matter, "key: value".
var frontMatterLine = pattern.New(`^[a-z_-]+:( |$)`)

// folderOf returns the folder that a part of Codex's notes is about; the first one of several.
func folderOf(text string) string {
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, " and /")
	if text = strings.TrimSpace(text); filepath.IsAbs(text) {
		return text
	}
	return ""
}

// cutListItem returns a list item without its mark; ok is false where line is none.
func cutListItem(line string) (text string, ok bool) {
	for _, mark := range []string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	digits := len(line) - len(strings.TrimLeftFunc(line, unicode.IsDigit))
	if rest, ok := strings.CutPrefix(line[digits:], ". "); ok && digits > 0 {
		return strings.TrimSpace(rest), true
	}
	return "", false
}

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

// FindNote returns the note that a person names: by its id or the beginning of it, by FILE:LINE, or by its text. ok is
// false when none or more than one has that name.
func FindNote(all []Note, name string) (n Note, ok bool) {
	found := slices.DeleteFunc(slices.Clone(all), func(n Note) bool {
		place := fmt.Sprintf("%s:%d", n.File, n.Line)
		return name == "" || !strings.HasPrefix(n.ID, name) && place != name && n.Text != strings.TrimSpace(name)
	})
	if len(found) != 1 {
		return Note{}, false
	}
	return found[0], true
}
