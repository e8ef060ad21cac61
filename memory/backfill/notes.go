package backfill

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// A Note is something that an agent has in a file of its own, to read it in each session: a point of a list or a
// paragraph, without secrets.
type Note struct {
	ID      string // a digest of agent, file and text: the same as long as it stands there
	Agent   string
	File    string
	Line    int
	Heading string // that it stands under
	Text    string
	Cwd     string // the folder that it is about; "" for every one
	Unknown bool   // it is about a folder that is not known
	ByAgent bool   // the agent wrote it, not the user
	Written time.Time
}

// noteFiles are where agents keep notes, below their folder.
var noteFiles = []struct {
	agent, variable, folder string
	files                   []string
	byAgent                 bool
}{
	{"claude", "CLAUDE_CONFIG_DIR", ".claude", []string{"CLAUDE.md", "rules/*.md"}, false},
	{"claude", "CLAUDE_CONFIG_DIR", ".claude", []string{"projects/*/memory/*.md"}, true},
	{"codex", "CODEX_HOME", ".codex", []string{"AGENTS.md", "AGENTS.override.md"}, false},
	{"codex", "CODEX_HOME", ".codex", []string{"memories/MEMORY.md", "memories/memory_summary.md"}, true},
}

const (
	maxNotes  = 1 << 20 // bytes of a file of notes; the rest is left
	maxNote   = 4 << 10 // bytes of a note
	leastNote = 3       // words
)

// Notes reads what agents keep for themselves (Claude Code and Codex). here is the folder that somebody asks from, for
// Claude names folders in a way that cannot be undone.
func Notes(p Place, here string) (all []Note, skipped []Skip) {
	for _, of := range noteFiles {
		root := p.env(of.variable, of.folder)
		for _, pattern := range of.files {
			names, err := filepath.Glob(filepath.Join(escaped(root), filepath.FromSlash(pattern)))
			if err != nil {
				continue // there is no such folder
			}
			for _, name := range names {
				info, err := os.Lstat(name)
				if err != nil || !info.Mode().IsRegular() {
					continue
				}
				if !ours(info) {
					skipped = append(skipped, Skip{name, "it belongs to another user"})
					continue
				}
				found, err := notesIn(name)
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
					n.Cwd, n.Unknown = cwd, unknown
					sum := sha256.Sum256([]byte(n.Agent + "\x00" + n.File + "\x00" + n.Text))
					n.ID = hex.EncodeToString(sum[:6])
					all = append(all, n)
				}
			}
		}
	}
	return all, skipped
}

// escaped is a folder's path as a pattern that is that path alone.
func escaped(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// notesIn cuts a file of Markdown into points and paragraphs. Headings, code, comments and what stands in front of the
// text (between lines of ---) are none.
func notesIn(name string) ([]Note, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Note
	var lines []string
	var heading, fence string
	at, began, size, front := 0, 0, 0, false
	flush := func() {
		text := strings.TrimSpace(privacy.Clean(strings.Join(lines, " "), nil, false))
		lines = lines[:0]
		words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(words) >= leastNote && len(text) <= maxNote {
			all = append(all, Note{Line: began, Heading: heading, Text: text})
		}
	}
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, maxNotes)
	for scan.Scan() {
		at++
		if size += len(scan.Bytes()) + 1; size > maxNotes {
			break
		}
		line := strings.TrimSpace(scan.Text())
		mark := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		point, isPoint := cutPoint(line)
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
		case line == "" || strings.HasPrefix(line, "<!--"):
			flush()
		case strings.HasPrefix(line, "#"):
			flush()
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

// cutPoint gives what a point of a list says.
func cutPoint(line string) (string, bool) {
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

// claudeFolder gives the folder that one of Claude's is about: what its conversations say, else here if its name is
// made of that.
func claudeFolder(dir, here string) string {
	files, _ := filepath.Glob(filepath.Join(escaped(dir), "*.jsonl"))
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

// firstCwd gives the folder that the beginning of a conversation names.
func firstCwd(name string) string {
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

// FindNote gives the note that somebody names: by its id or the beginning of that, by FILE:LINE, or by what it says. ok
// is false for none, and for more than one.
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
