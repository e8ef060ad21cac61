package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A PreviewQuery says for which session the preview is.
type PreviewQuery struct {
	Prompt string
	Cwd    string
	Agent  string // a harness by name; empty: any

	Continues string // a session, as a person names it, that it continues; empty: one that was handed off, if any
}

// Preview returns what a session's first prompt would get now. Nothing is stored.
func (d *Data) Preview(ctx context.Context, q PreviewQuery) (Preview, error) {
	if why := d.nothingFor(q); why != "" {
		return nothing(why), nil
	}
	profile, _ := d.Config.Profile(q.Agent)
	who := memory.Session{Key: correlation.NewKey(), Harness: profile.Name, Cwd: q.Cwd, Project: memory.Project(q.Cwd),
		AgentID: cmp.Or(d.Config.Agent(q.Agent).AgentID, d.Config.AgentID)}
	if err := d.Memories.Learn(ctx); err != nil {
		return Preview{}, err
	}
	source, forget, err := d.source(who)
	if err != nil {
		return Preview{}, err
	}
	defer forget()
	begun := time.Now()
	start, err := source.Start(ctx, who)
	if errors.Is(err, memory.ErrOwned) {
		return nothing(err.Error()), nil
	}
	var recalled memory.Context
	var notes []string
	if err != nil {
		notes = append(notes, fmt.Sprintf("without the daemon's memories: %v", err))
		start = d.Memories.Identity(who)
	} else if q.Prompt != "" {
		limited, cancel := context.WithTimeout(ctx, session.AskTime(d.Config.Hold))
		defer cancel()
		if recalled, err = source.Recall(limited, who, q.Prompt, nil); err != nil {
			notes = append(notes, fmt.Sprintf("without recall: %v", err))
		}
		switch {
		case recalled.CutOff > 0:
			notes = append(notes, fmt.Sprintf("the search was cut off after %d ms", recalled.CutOff.Milliseconds()))
		case len(recalled.Items)+len(recalled.Profile) == 0:
			notes = append(notes, "no memory is relevant enough")
		}
	}
	if start.Continued, err = d.continued(ctx, q, who); err != nil {
		return Preview{}, err
	}
	took := time.Since(begun)
	mode := ""
	if profile.Asks(mode) && !profile.Asks(profile.OpeningMode) {
		mode = profile.OpeningMode
		notes = append(notes, fmt.Sprintf("in mode %s, the default of %s; in modes that ask before each tool, the "+
			"memory tool is not mentioned", mode, profile.Title))
	}
	block, _ := memory.Compose(who.Key, start, recalled, !profile.Asks(mode))
	p := previewOf(d.Config, start, recalled, block)
	p.Source, p.Notes, p.Took = start.Source, notes, took
	return p, d.addRecords(ctx, who.Project, p.Items)
}

// addRecords notes how often items were told, and what became of them.
func (d *Data) addRecords(ctx context.Context, project string, items []previewItem) error {
	for i, it := range items {
		within := "" // what stands for the person is told in all projects
		if _, isFile := memory.FileOf(it.ID); isFile {
			within = project
		}
		records, err := correlation.Records(ctx, d.DB, within, []string{it.ID})
		if err != nil {
			return err
		}
		items[i].Record = records[it.ID].InWords()
	}
	return nil
}

// nothingFor says why nothing at all would be injected, "" if something may be.
func (d *Data) nothingFor(q PreviewQuery) string {
	switch name := config.Canonical(q.Agent); {
	case d.Config.Memory == "off":
		return fmt.Sprintf("memory is off (%s)", d.Config.Source("memory"))
	case !d.Config.Agent(q.Agent).Inject:
		return fmt.Sprintf("agents.%s.inject is off (%s)", name, d.Config.Source("agents."+name+".inject"))
	case memory.Excluded(q.Cwd, d.Config.Exclude):
		return q.Cwd + " has opted out, by a .signet-ignore file or exclude"
	}
	return ""
}

func nothing(why string) Preview {
	return Preview{Nothing: why, Items: []previewItem{}, Out: []previewPiece{}}
}

// continued returns the brief of the conversation that the session would continue.
func (d *Data) continued(ctx context.Context, q PreviewQuery, who memory.Session) (string, error) {
	var id int64
	var err error
	if q.Continues == "" {
		id, err = d.Sessions.Book().HandoffFor(ctx, cmp.Or(who.Project, who.Cwd), namesOf("", q.Agent))
	} else {
		var s correlation.Session
		if s, err = d.Resolve(ctx, q.Continues); d.Config.Continue {
			id = s.ID
		}
	}
	if err != nil || id == 0 {
		return "", err
	}
	b, err := briefOf(ctx, d.Sessions, id)
	return b.Text(), err
}

// source returns where context would come from. forget ends the preview's key at the daemon.
func (d *Data) source(who memory.Session) (source memory.Source, forget func(), err error) {
	forget = func() {}
	if d.Config.Memory == "embedded" {
		return d.Memories, forget, nil
	}
	daemon, err := NewDaemon(d.Config, config.Token(), d.Log.Logger)
	if err != nil {
		return nil, nil, err
	}
	forget = func() {
		defer daemon.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := daemon.Free(ctx, who); err != nil {
			log := d.Log.Logger
			log.Debug().Err(err).Str("key", who.Key).Msg("ending a preview")
		}
	}
	if d.Config.Memory == "daemon" {
		return daemon, forget, nil
	}
	return memory.Auto{Daemon: daemon, Embedded: d.Memories}, forget, nil
}

// A Preview is what preview --json prints.
type Preview struct {
	Block string         `json:"block"`
	Items []previewItem  `json:"items"`
	Out   []previewPiece `json:"out"`

	Nothing string         `json:"-"` // why nothing would be inserted at all
	Files   []previewPiece `json:"-"` // identity files that would be told
	Source  string         `json:"-"`
	Notes   []string       `json:"-"` // what failed, or found nothing
	Took    time.Duration  `json:"-"`
}

// A previewItem is a memory that would be told.
type previewItem struct {
	ID      string  `json:"id"`
	Content string  `json:"content"`
	Why     string  `json:"why"` // recalled: by the prompt's words; standing: to every session; where: files
	Score   float64 `json:"score"`
	Record  string  `json:"record,omitempty"` // how often it was told and used
}

// A previewPiece is a memory or a file that would be left out.
type previewPiece struct {
	ID   string `json:"id,omitempty"`
	File string `json:"file,omitempty"`
	Why  string `json:"why"`
}

// previewOf lists each file and memory, with why it would be told or left out.
func previewOf(c *config.Config, start, recalled memory.Context, block memory.Block) Preview {
	p := Preview{Block: block.Text, Items: []previewItem{}, Out: []previewPiece{}}
	if start.Source == memory.FromEmbedded {
		for _, name := range IdentityFiles {
			fate := identityFileStatus(filepath.Join(c.SignetPath, name), start.Identity)
			if why, out := strings.CutPrefix(fate, "out: "); out {
				p.Out = append(p.Out, previewPiece{File: name, Why: why})
			} else {
				p.Files = append(p.Files, previewPiece{File: name, Why: fate})
			}
		}
	}
	seen := map[string]bool{}
	for i, it := range slices.Concat(recalled.Items, start.Profile, recalled.Profile, start.Items) {
		name := cmp.Or(it.ID, it.Text)
		if seen[name] {
			continue
		}
		seen[name] = true
		why := "recalled"
		if i >= len(recalled.Items) && !(it.Score >= embedded.MinRecalled) {
			why = "standing"
		}
		if slices.Contains(block.Items, name) {
			p.Items = append(p.Items, previewItem{ID: name, Content: it.Text, Why: why, Score: it.Score})
		} else {
			p.Out = append(p.Out, previewPiece{ID: name, Why: "already in the conversation, or no room"})
		}
	}
	for _, place := range recalled.Where {
		if line := place.LineIn(block.Text); line != "" {
			p.Items = append(p.Items, previewItem{ID: memory.FileItem(place.Paths[0]), Content: line, Why: "where",
				Score: place.Score})
		}
	}
	return p
}

// identityFileStatus says whether an identity file would be told, or why not ("out: …").
func identityFileStatus(path, identity string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "out: missing"
	case err != nil:
		return "out: " + err.Error()
	case !info.Mode().IsRegular():
		return "out: not a regular file"
	case strings.Contains(identity, "# "+filepath.Base(path)+"\n"):
		return fmt.Sprintf("in (%d bytes)", info.Size())
	case info.Size() == 0:
		return "out: empty"
	}
	switch text, err := os.ReadFile(path); {
	case err != nil:
		return "out: " + err.Error()
	case memory.WithoutComment(string(text)) == "":
		return "out: only a comment so far"
	}
	return "out: the agent reads it itself"
}
