package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

var ourNames = []string{"memory_feedback", "memory_files", "memory_forget", "memory_get", "memory_list", "memory_modify",
	"memory_search", "memory_store"}

// One memory's life over the tools, from one session to another.
func TestStoreTools(t *testing.T) {
	s := newServer(t, newStore(t))
	first := connect(t, s, robin)
	second := connect(t, s, func() memory.Session { return memory.Session{Key: "acp-2", Project: "/src/egret"} })
	if diff := cmp.Diff(ourNames, first.names()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}

	var stored struct{ ID, Status string }
	first.ok("memory_store", map[string]any{"content": "The heron staging database is called Bittern.",
		"type": "decision", "tags": "db,heron", "importance": 0.9}, &stored)
	if stored.ID == "" || stored.Status != "stored" {
		t.Errorf("stored %+v", stored)
	}
	id := stored.ID
	first.ok("memory_store", map[string]any{"content": "The heron staging database is called Bittern."}, &stored)
	if stored.ID != id || stored.Status != "updated" {
		t.Errorf("stored again as %+v, want %s updated", stored, id)
	}

	var m embedded.Memory
	second.ok("memory_get", map[string]any{"id": id}, &m)
	if m.Created.IsZero() || m.Updated.Before(m.Created) {
		t.Errorf("created %v, updated %v", m.Created, m.Updated)
	}
	m.Created, m.Updated = m.Created.Truncate(0), m.Created
	want := embedded.Memory{
		ID: id, Content: "The heron staging database is called Bittern.", Type: "decision", Tags: "db,heron",
		Importance: 0.9,
		Project:    "/src/heron", Harness: "claude", Session: "acp-1", Source: "memory_store", Origin: "assistant", Who: memory.Tool,
		Created: m.Created, Updated: m.Created,
	}
	if diff := cmp.Diff(want, m, cmpopts.IgnoreUnexported(m)); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}

	{
		var found struct{ Results []embedded.Memory }
		second.ok("memory_search", map[string]any{"query": "what is the staging database called?", "limit": 3,
			"type": "decision", "min_score": 0.01}, &found)
		if len(found.Results) != 1 || found.Results[0].ID != id || found.Results[0].Score <= 0 {
			t.Errorf("found %+v", found)
		}
	}
	var merged struct{ Results []embedded.Memory }
	second.ok("memory_store", map[string]any{"content": "The kestrel deploys on Fridays."}, &stored)
	second.ok("memory_search", map[string]any{"queries": []string{"staging database", "kestrel deploys"}}, &merged)
	if len(merged.Results) != 2 || merged.Results[0].ID != id || merged.Results[1].ID != stored.ID {
		t.Errorf("of two queries %+v", merged)
	}
	second.ok("memory_forget", map[string]any{"id": stored.ID, "reason": "it was for the search"}, &stored)
	var list struct{ Memories []embedded.Memory }
	second.ok("memory_list", map[string]any{"limit": 5, "offset": 0, "type": "decision"}, &list)
	if len(list.Memories) != 1 || list.Memories[0].ID != id {
		t.Errorf("listed %+v", list)
	}

	second.ok("memory_modify", map[string]any{"id": id, "content": "The heron staging database is called Egret.",
		"reason": "renamed"}, &stored)
	first.ok("memory_get", map[string]any{"id": id}, &m)
	if m.Content != "The heron staging database is called Egret." || m.Tags != "db,heron" ||
		m.Source != "memory_modify" {
		t.Errorf("modified to %+v", m)
	}

	var rated struct {
		Recorded int
		Unknown  []string
	}
	first.ok("memory_feedback", map[string]any{"session_key": "acp-1",
		"ratings": map[string]any{id: 1, "nobody": -1}}, &rated)
	if rated.Recorded != 1 || len(rated.Unknown) != 1 {
		t.Errorf("rated %+v", rated)
	}

	first.ok("memory_forget", map[string]any{"id": id, "reason": "wrong"}, &stored)
	if words, failed := first.call("memory_get", map[string]any{"id": id}); !failed ||
		!strings.Contains(words, "memory_search") {
		t.Errorf("forgotten: %s", words)
	}
	second.ok("memory_list", nil, &list)
	if len(list.Memories) != 0 {
		t.Errorf("left: %+v", list)
	}
}

func TestAnnotations(t *testing.T) {
	c := connect(t, newServer(t, newStore(t)), robin)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		readOnly := strings.HasSuffix(tool.Name, "_search") || strings.HasSuffix(tool.Name, "_get") ||
			strings.HasSuffix(tool.Name, "_list") || tool.Name == "memory_files"
		if tool.Annotations == nil || tool.Annotations.ReadOnlyHint != readOnly {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
}

// What cannot be done comes back as an error that says what to do, and the next call works.
func TestBadCalls(t *testing.T) {
	c := connect(t, newServer(t, newStore(t)), robin)
	big := strings.Repeat("x", 1<<20)
	for _, tc := range []struct {
		tool      string
		arguments any
		say       string
	}{
		{"memory_search", nil, "query is missing: memory_search takes query, [limit]"},
		{"memory_search", map[string]any{}, "query is missing"},
		{"memory_search", map[string]any{"query": nil}, "query is missing"},
		{"memory_search", map[string]any{"query": 7}, "query: must be text"},
		{"memory_search", map[string]any{"query": "  "}, "query: is empty"},
		{"memory_search", map[string]any{"queries": []string{}}, "queries: must be a list of 1 to 5 texts"},
		{"memory_search", map[string]any{"queries": []string{"x", " "}}, "queries: one of them"},
		{"memory_search", map[string]any{"query": "x", "limit": "many"}, "limit: must be a whole number from 1 to 1000"},
		{"memory_search", map[string]any{"query": "x", "limit": 1.5}, "limit: must be a whole number"},
		{"memory_search", map[string]any{"query": "x", "limit": 0}, "limit: 0 is too low"},
		{"memory_search", map[string]any{"query": "x", "limit": 1e300}, "limit: 1e+300 is too high"},
		{"memory_search", map[string]any{"query": "x", "min_score": []int{1}}, "min_score: must be a number from 0 to 1"},
		{"memory_search", []string{"query"}, "memory_search takes an object"},
		{"memory_store", map[string]any{"content": ""}, "content: is empty"},
		{"memory_store", map[string]any{"content": big}, "1048576 bytes, the maximum is 65536"},
		{"memory_store", map[string]any{"content": big + "x"}, "the maximum is 1048576"},
		{"memory_store", map[string]any{"content": "<private>my pin is 1234</private>"}, "private passages"},
		{"memory_store", map[string]any{"content": "x", "importance": 7}, "importance: 7 is too high"},
		{"memory_get", map[string]any{}, "id is missing"},
		{"memory_get", map[string]any{"id": "nobody' OR 1=1 --"}, "no memory has this id"},
		{"memory_modify", map[string]any{"id": "x", "content": "y"}, "reason is missing"},
		{"memory_modify", map[string]any{"id": "x", "content": "y", "reason": "z"}, "no memory has this id"},
		{"memory_forget", map[string]any{"id": "x"}, "reason is missing"},
		{"memory_forget", map[string]any{"id": "nobody", "reason": "y"}, "no memory has this id"},
		{"memory_forget", map[string]any{"id": "nobod", "reason": "y"}, "at least 6 characters"},
		{"memory_feedback", map[string]any{"session_key": "k"}, "ratings is missing"},
		{"memory_feedback", map[string]any{"session_key": "k", "ratings": []int{1}}, "ratings: must be an object"},
		{"memory_feedback", map[string]any{"session_key": "k", "ratings": map[string]any{"a": 2}}, "ratings: 2"},
		{"memory_feedback", map[string]any{"session_key": "k", "ratings": map[string]any{"a": "good"}}, "ratings: must be an object"},
		{"memory_dream", map[string]any{}, "memory_dream"},
	} {
		words, failed := c.call(tc.tool, tc.arguments)
		if !failed || !strings.Contains(words, tc.say) || len(words) > 1000 {
			t.Errorf("%s(%.60v): failed %v, %.300s\nwant %s", tc.tool, tc.arguments, failed, words, tc.say)
		}
	}
	var found struct{ Results []embedded.Memory }
	for _, query := range []string{
		`AND OR NOT NEAR( "`, `"unclosed`, `a* ^b {c d} : col:x - +`, "'; DROP TABLE memories; --", "👩‍👩‍👧 🦩",
		strings.Repeat("heron AND ", 10<<10), strings.Repeat("水", 33<<10), "\x00\u202e",
	} {
		c.ok("memory_search", map[string]any{"query": query}, &found)
		if found.Results == nil || len(found.Results) != 0 {
			t.Errorf("%.20q found %+v", query, found)
		}
	}
	var list struct{ Memories []embedded.Memory }
	if c.ok("memory_list", nil, &list); len(list.Memories) != 0 {
		t.Errorf("kept %+v", list)
	}
}

// Two servers on one database write at once, and nothing is lost.
func TestTwoServers(t *testing.T) {
	const each = 25
	path := filepath.Join(t.TempDir(), "acp", "sessions.db")
	var all sync.WaitGroup
	var last *client
	for n := range 2 {
		c := connect(t, newServer(t, storeAt(t, path)), robin)
		last = c
		for i := range each {
			all.Go(func() {
				words, failed := c.call("memory_store",
					map[string]any{"content": fmt.Sprintf("Server %d counts %d.", n, i)})
				if failed {
					t.Errorf("%d, %d: %s", n, i, words)
				}
			})
		}
	}
	all.Wait()
	var list struct{ Memories []embedded.Memory }
	if last.ok("memory_list", nil, &list); len(list.Memories) != 2*each {
		t.Errorf("%d memories, want %d", len(list.Memories), 2*each)
	}
}

func TestExcluded(t *testing.T) {
	s := newServer(t, newStore(t), func(o *Options) { o.Exclude = []string{"/src/heron"} })
	c := connect(t, s, robin)
	if words, failed := c.call("memory_store", map[string]any{"content": "x"}); !failed ||
		!strings.Contains(words, "excluded from memory") {
		t.Errorf("%v, %s", failed, words)
	}
	if words, failed := c.call("memory_list", nil); !failed || !strings.Contains(words, "excluded from memory") {
		t.Errorf("read: %v, %s", failed, words)
	}
}

// A session sees its own project and what belongs to none; nothing else, unless that is configured.
func TestOtherProjectsStayThere(t *testing.T) {
	db, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "acp", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := newServer(t, embedded.New(db, embedded.Options{}))
	var other, shared struct{ ID string }
	connect(t, s, robin).ok("memory_store", map[string]any{"content": "The bittern key is blue."}, &other)
	connect(t, s, func() memory.Session { return memory.Session{} }).ok("memory_store",
		map[string]any{"content": "The egret key is red."}, &shared)
	for _, project := range []string{"", "/src/egret"} {
		c := connect(t, s, func() memory.Session { return memory.Session{Project: project} })
		for _, tool := range []string{"memory_get", "memory_forget"} {
			if words, failed := c.call(tool, map[string]any{"id": other.ID, "reason": "r"}); !failed {
				t.Errorf("%s in %q: %s", tool, project, words)
			}
		}
		var list, found struct{ Memories, Results []embedded.Memory }
		c.ok("memory_list", nil, &list)
		c.ok("memory_search", map[string]any{"query": "bittern key"}, &found)
		if len(list.Memories) != 1 || list.Memories[0].ID != shared.ID || len(found.Results) > 1 ||
			len(found.Results) == 1 && found.Results[0].ID != shared.ID {
			t.Errorf("in %q: listed %+v, found %+v", project, list, found)
		}
	}
}

func TestShorten(t *testing.T) {
	c := connect(t, newServer(t, newStore(t)), robin)
	long := strings.Repeat("ü ", 1500) + "<system-reminder>"
	var stored struct{ ID string }
	c.ok("memory_store", map[string]any{"content": long}, &stored)
	var list struct{ Memories []embedded.Memory }
	c.ok("memory_list", nil, &list)
	if got := list.Memories[0].Content; len(got) > 2100 || !strings.HasSuffix(got, "… (memory_get gives the rest)") {
		t.Errorf("%d bytes: …%s", len(got), got[max(0, len(got)-40):])
	}
	var m embedded.Memory
	c.ok("memory_get", map[string]any{"id": stored.ID}, &m)
	if want := strings.Repeat("ü ", 1500) + "[system-reminder>"; m.Content != want {
		t.Errorf("%d bytes, want %d", len(m.Content), len(want))
	}
}

// A store that cannot be opened is an error for the agent, and the conversation goes on.
func TestNoStore(t *testing.T) {
	s := newServer(t, nil, func(o *Options) {
		o.Store = func(ctx context.Context) (*embedded.Store, error) { return nil, errors.New("newer database") }
	})
	if words, failed := connect(t, s, robin).call("memory_list", nil); !failed ||
		!strings.Contains(words, "memory is unavailable (newer database)") {
		t.Errorf("%v, %s", failed, words)
	}
}

// Files come from the store, also where a daemon answers the rest.
func TestFiles(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{MCP: newStandIn().handler})
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
	var answer struct{ Files []embedded.FileWork }
	if c.ok("memory_files", map[string]any{"query": "the mast"}, &answer); answer.Files == nil || len(answer.Files) > 0 {
		t.Errorf("%+v", answer)
	}
}
