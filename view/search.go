package view

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

const (
	pageRows     = 60  // sessions of a list that are served at a time
	pageMemories = 50  // memories that are shown at a time
	maxFound     = 200 // memories that a search finds
	maxWords     = 8   // of a search
)

// A query is what a live page asks for, as it stands in the page's address.
type query struct {
	text                    string
	project, harness, agent string
	since                   string // 7d, or a day
	after                   int64
	kind, who               string // of memories
	page                    int    // of these, from 1 on
}

func queryOf(v url.Values) query {
	after, _ := strconv.ParseInt(v.Get("after"), 10, 64)
	page, _ := strconv.Atoi(v.Get("page"))
	return query{v.Get("q"), v.Get("project"), v.Get("harness"), v.Get("agent"), v.Get("since"), after, v.Get("kind"),
		v.Get("who"), max(page, 1)}
}

// inProject is the project that is asked for, "" for none and where any may be.
func (q query) inProject() string {
	if q.project == noProject {
		return ""
	}
	return q.project
}

// find returns the rows of the sessions that a query asks for, and whether there are more.
func (q query) find(ctx context.Context, src Source) (ids []int64, more bool, err error) {
	l := correlation.Listing{Agent: q.agent, After: q.after, Limit: pageRows + 1}
	if project := q.inProject(); q.project != "" {
		l.Project = &project
	}
	if q.harness != "" {
		if l.Harnesses, err = src.Sessions.Harnesses(ctx); err != nil {
			return nil, false, err
		}
		l.Harnesses = slices.DeleteFunc(l.Harnesses, func(name string) bool { return harnessName(name) != q.harness })
	}
	if day, err := time.ParseInLocation(time.DateOnly, q.since, time.Local); err == nil {
		l.Since, l.Until = day, day.AddDate(0, 0, 1)
	} else if n, err := strconv.Atoi(strings.TrimSuffix(q.since, "d")); err == nil {
		l.Since = time.Now().AddDate(0, 0, -n)
	}
	if l.Sessions, err = said(ctx, src, q.text); err != nil {
		return nil, false, err
	}
	ids, err = src.Sessions.List(ctx, l)
	return ids[:min(len(ids), pageRows)], len(ids) > pageRows, err
}

// findMemories returns the page of memories that a query asks for, and whether there are more.
func (q query) findMemories(ctx context.Context, src Source) (all []embedded.Memory, more bool, err error) {
	from, who := (q.page-1)*pageMemories, whoOf(q.who)
	if strings.TrimSpace(q.text) == "" {
		all, err = src.Memories.List(ctx, embedded.Filter{Type: q.kind, Project: q.inProject(),
			Within: q.project == noProject, From: who, Limit: pageMemories + 1, Offset: from})
	} else {
		all, err = src.Memories.Search(ctx, embedded.Query{Text: q.text, Limit: maxFound, AllProjects: true})
		all = slices.DeleteFunc(all, func(m embedded.Memory) bool {
			return q.kind != "" && m.Type != q.kind || who != "" && m.Who != who ||
				q.project != "" && m.Project != q.inProject() && !m.Personal
		})
		all = all[min(from, len(all)):]
	}
	return all[:min(len(all), pageMemories)], len(all) > pageMemories, err
}

// whoOf is the one of memory.Whos that the page calls so.
func whoOf(name string) memory.Who {
	for _, w := range memory.Whos {
		if w.ForPeople() == name {
			return w
		}
	}
	return memory.Who(name)
}

// addMatches adds to sessions the line in which a search is met first.
func (c *conversations) addMatches(ctx context.Context, in []int64, text string) error {
	rarest := ""
	for _, word := range searched(text) {
		if w := []rune(word.text); !word.exact && len(w) > shortWord {
			word.text = string(w[:len(w)-ending]) // the index finds its forms
		}
		if len(word.text) > len(rarest) {
			rarest = word.text
		}
	}
	if rarest == "" {
		return nil
	}
	found, err := c.src.Sessions.MentionsIn(ctx, in, rarest)
	for id, around := range found {
		for line := range strings.Lines(around) {
			if s := c.byID[id]; s != nil && strings.Contains(strings.ToLower(line), strings.ToLower(rarest)) {
				s.Match = strings.Join(strings.Fields(chars.WithoutToolMarks(line)), " ")
				break
			}
		}
	}
	return err
}

const (
	shortWord = 5 // characters of a word that is looked for whole,
	ending    = 2 // and of a longer one's end, which may be another
)

// said returns the sessions in which all words of a search were said; nil for no words. What stands between quotation
// marks is looked for as it is, in all that was said; other words in the index, and in what is not in it yet.
func said(ctx context.Context, src Source, text string) (map[int64]bool, error) {
	var found map[int64]bool
	words := searched(text)
	for _, word := range words {
		saying, asked := map[int64]bool(nil), false
		var err error
		if !word.exact {
			saying, asked, err = src.Memories.SessionsSaying(ctx, word.text)
		}
		if !asked && !word.exact && len(words) > 1 {
			continue // "the"
		}
		var more map[int64]bool
		if err == nil {
			more, err = src.Sessions.Mentioning(ctx, word.text, asked)
		}
		if err != nil {
			return nil, err
		}
		here := map[int64]bool{}
		for _, some := range []map[int64]bool{saying, more} {
			for id := range some {
				if found == nil || found[id] {
					here[id] = true
				}
			}
		}
		found = here
	}
	return found, nil
}

// A searchedWord is a word of a search, or what stands between quotation marks.
type searchedWord struct {
	text  string
	exact bool
}

func searched(text string) (words []searchedWord) {
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 && strings.TrimSpace(part) != "" {
			words = append(words, searchedWord{part, true})
			continue
		}
		for _, word := range strings.Fields(part) {
			words = append(words, searchedWord{word, false})
		}
	}
	return words[:min(len(words), maxWords)]
}
