package embedded

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Real conversations are not part of this repository: make recall CODING=DIR DIALOGUES=DIR names where they are,
// make saves TEAM=FILE, too.

// A corpusTurn is one turn; tools is where the agent called tools.
type corpusTurn struct {
	at              time.Time
	user, assistant string
	tools           []correlation.ToolCall
}

// spoken is a turn as the corpora have it.
type spoken struct {
	At    time.Time
	User  string
	Agent []spokenPart
}

// A spokenPart of an answer is a text, or a tool that was called.
type spokenPart struct {
	Text, Tool string
	Paths      []string
}

// turn returns a turn of work in a folder.
func (s spoken) turn(top string) corpusTurn {
	turn := corpusTurn{at: s.At, user: s.User}
	for i, p := range s.Agent {
		if p.Text != "" {
			turn.assistant += p.Text + "\n\n"
			continue
		}
		turn.assistant += chars.ToolMark
		call := correlation.ToolCall{ID: strconv.Itoa(i), Kind: p.Tool, Title: p.Tool + " " + strings.Join(p.Paths, " ")}
		for _, path := range p.Paths {
			call.Locations = append(call.Locations, filepath.Join(top, path))
		}
		turn.tools = append(turn.tools, call)
	}
	return turn
}

func (w *world) held(project, name string, turns []corpusTurn) {
	w.t.Helper()
	session, err := correlationtest.Session(w.t.Context(), w.journal, correlation.OpenSession{Harness: "echo", ACPID: name, Cwd: project,
		Project: project})
	if err != nil {
		w.t.Fatal(err)
	}
	w.sessions[project] = append(w.sessions[project], name)
	rows := make([]correlation.Turn, len(turns))
	for i, turn := range turns {
		rows[i] = correlation.Turn{Session: session.ID, User: turn.user, Assistant: turn.assistant, Tools: turn.tools,
			Started: turn.at, Ended: turn.at, Stop: "end_turn"}
		w.now = turn.at
	}
	if err := correlationtest.Save(w.t.Context(), w.journal, rows); err != nil {
		w.t.Fatal(err)
	}
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(path, err)
	}
}

func filesOf(t testing.TB, variable, pattern string) []string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skip(variable + " names no folder")
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("nothing in", dir, err)
	}
	return files
}

var (
	noWord      = regexp.MustCompile(`\W+`)
	sentenceEnd = regexp.MustCompile(`[.!?\n]+`)
)

// plainWords makes texts comparable: white space, signs and case do not count.
func plainWords(text string) string {
	return strings.TrimSpace(noWord.ReplaceAllString(strings.ToLower(text), " "))
}

// tally counts hits.
type tally struct{ hits, of int }

func (n *tally) add(hit bool) {
	n.of++
	if hit {
		n.hits++
	}
}

func (n *tally) addAll(hits, of int) { n.hits, n.of = n.hits+hits, n.of+of }

func (n tally) share() float64 { return float64(n.hits) / float64(max(n.of, 1)) }

// block returns what a first prompt is told, and the whole block's size.
func (w *world) block(project, prompt string) (told string, size int) {
	w.t.Helper()
	who := memory.Session{Key: "asking", Project: project}
	c, err := w.Recall(w.t.Context(), who, prompt, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, it := range slices.Concat(c.Profile, c.Items) {
		told += plainWords(it.Text) + " | "
	}
	b, _ := memory.Compose(who.Key, memory.Context{}, c, true)
	return told, len(b.Text)
}

// rankOf returns the place of the first result that holds one of the passages, 0 for none.
func (w *world) rankOf(project, query string, passages []string) int {
	w.t.Helper()
	found, err := w.Search(w.t.Context(), Query{Text: query, Project: project, Limit: 20})
	if err != nil {
		w.t.Fatal(err)
	}
	return 1 + slices.IndexFunc(found, func(m Memory) bool { return holdsAny(plainWords(m.Content), passages) })
}

// asFile is what a file that goes into every prompt holds within size bytes: a project's profile, then its newest memories.
func (w *world) asFile(project string, size int) (text string) {
	w.t.Helper()
	of := Filter{Project: project, Limit: 1000}
	profile, err := w.Profile(w.t.Context(), of)
	if err != nil {
		w.t.Fatal(err)
	}
	newest, err := w.List(w.t.Context(), of)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range slices.Concat(profile, newest) {
		if size -= len(m.Content) + len("- \n"); size < 0 {
			break
		}
		text += plainWords(m.Content) + " | "
	}
	return text
}

func holdsAny(text string, passages []string) bool {
	return slices.ContainsFunc(passages, func(p string) bool { return strings.Contains(text, p) })
}

// notedFrom stores notes of sessions, one on each line of a file, as their agents would have made them: "session" is its
// place in the project's file. A block with one of the notes that answer a question, as somebody has judged, is right as
// well. "" is no file.
func (w *world) notedFrom(file string) {
	w.t.Helper()
	if file == "" {
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	notes, dropped := 0, 0
	for line := range bytes.Lines(data) {
		var n struct {
			Note
			Project string
			Session int
			Answers []string
		}
		if err := json.Unmarshal(line, &n); err != nil {
			w.t.Fatal(file, err)
		}
		for _, id := range n.Answers {
			w.answers[id] = append(w.answers[id], plainWords(n.Text))
		}
		kept := w.noted(w.sessions["/src/"+n.Project][n.Session], n.Note)
		notes, dropped = notes+1, dropped+1-len(kept)
	}
	w.t.Logf("%d notes, %d of them known", notes, dropped)
}

// TestRecallCoding asks the questions of DIR/*.jsonl of the projects in DIR/*.json.
func TestRecallCoding(t *testing.T) {
	w := newWorld(t)
	for _, file := range filesOf(t, "CODING", "*.json") {
		var project struct {
			Name     string
			Sessions []struct {
				File  string
				Turns []spoken
			}
		}
		readJSON(t, file, &project)
		for _, s := range project.Sessions {
			var turns []corpusTurn
			for _, said := range s.Turns {
				turns = append(turns, said.turn("/src/"+project.Name))
			}
			w.held("/src/"+project.Name, project.Name+s.File, turns)
		}
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.notedFrom(os.Getenv("NOTES"))
	var all, silent, bytesTold tally
	var at5, at20, sameBytes, wholeFile tally
	kinds := map[string]*tally{}
	for _, file := range filesOf(t, "CODING", "*.jsonl") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var q struct {
				ID, Project, Kind, Prompt, Search string
				Gold                              []struct{ Text string }
			}
			if err := json.Unmarshal(line, &q); err != nil {
				t.Fatal(file, err)
			}
			told, size := w.block("/src/"+q.Project, q.Prompt)
			if len(q.Gold) == 0 {
				silent.add(told != "")
				continue
			}
			var gold []string
			for _, g := range q.Gold {
				gold = append(gold, plainWords(g.Text))
			}
			gold = append(gold, w.answers[q.ID]...)
			hit := holdsAny(told, gold)
			all.add(hit)
			if kinds[q.Kind] == nil {
				kinds[q.Kind] = new(tally)
			}
			kinds[q.Kind].add(hit)
			bytesTold.hits, bytesTold.of = bytesTold.hits+size, bytesTold.of+1
			sameBytes.add(holdsAny(w.asFile("/src/"+q.Project, size), gold))
			wholeFile.add(holdsAny(w.asFile("/src/"+q.Project, 1<<20), gold))
			rank := w.rankOf("/src/"+q.Project, q.Search, gold)
			at5.add(rank > 0 && rank <= 5)
			at20.add(rank > 0)
			if !hit {
				t.Logf("missed: %s %s", q.Kind, q.ID)
			}
		}
	}
	t.Logf("block %.3f of %d; told where nothing helps %d of %d; search hit@5 %.3f hit@20 %.3f; %.0f bytes a block",
		all.share(), all.of, silent.hits, silent.of, at5.share(), at20.share(), bytesTold.share())
	t.Logf("a file of a project's rules and newest memories instead, of as many bytes %.3f, with all of them %.3f",
		sameBytes.share(), wholeFile.share())
	for kind, n := range kinds {
		t.Logf("%s: %d of %d", kind, n.hits, n.of)
	}
}

// TestRecallDialogues asks the questions of the dialogues in DIR/*.json, each in a project of its own, and those of the
// next one, which it cannot answer.
func TestRecallDialogues(t *testing.T) {
	type dialogue struct {
		Name     string
		Speakers []string
		Sessions []struct {
			N     int
			Turns []struct {
				ID, Who, Text string
				At            time.Time
			}
		}
		Questions []struct {
			Text     string
			Evidence []string
		}
	}
	w := newWorld(t)
	var all []dialogue
	for _, file := range filesOf(t, "DIALOGUES", "*.json") {
		var d dialogue
		readJSON(t, file, &d)
		for _, s := range d.Sessions {
			var turns []corpusTurn
			for _, said := range s.Turns {
				byUser := said.Who == d.Speakers[0]
				if len(turns) == 0 || byUser && turns[len(turns)-1].assistant != "" {
					turns = append(turns, corpusTurn{at: said.At})
				}
				side := &turns[len(turns)-1].assistant
				if byUser {
					side = &turns[len(turns)-1].user
				}
				*side = strings.TrimPrefix(*side+"\n\n"+said.Text, "\n\n")
			}
			for i := range turns {
				if turns[i].user == "" {
					turns[i].user = "Go on."
				}
			}
			w.held("/src/"+d.Name, d.Name+s.Turns[0].ID, turns)
		}
		all = append(all, d)
	}
	if err := w.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	var block, foreign, at5, at20 tally
	for i, d := range all {
		texts := map[string]string{}
		for _, s := range d.Sessions {
			for _, said := range s.Turns {
				texts[said.ID] = said.Text
			}
		}
		for _, q := range d.Questions {
			var evidence []string
			for _, id := range q.Evidence {
				for _, sentence := range sentenceEnd.Split(texts[id], -1) {
					if words := plainWords(sentence); strings.Count(words, " ") >= 2 {
						evidence = append(evidence, words)
					}
				}
			}
			if len(evidence) == 0 {
				continue
			}
			told, _ := w.block("/src/"+d.Name, q.Text)
			block.add(holdsAny(told, evidence))
			rank := w.rankOf("/src/"+d.Name, q.Text, evidence)
			at5.add(rank > 0 && rank <= 5)
			at20.add(rank > 0)
			told, _ = w.block("/src/"+all[(i+1)%len(all)].Name, q.Text)
			foreign.add(told != "")
		}
	}
	t.Logf("block %.3f of %d; of another dialogue %.3f; search hit@5 %.3f hit@20 %.3f", block.share(), block.of,
		foreign.share(), at5.share(), at20.share())
}
