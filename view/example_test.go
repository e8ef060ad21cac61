package view_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/view"
)

func Example() {
	ctx := context.Background()
	db, _, remove := correlationtest.Open()
	defer remove()
	memories := embedded.New(db, embedded.Options{})
	if _, _, err := memories.Add(ctx, embedded.Memory{Content: "The kiln is fired at 1240 degrees."}); err != nil {
		panic(err)
	}
	sessions := correlation.New(db, correlation.Options{})
	page, err := view.Read(ctx, view.Source{DB: db, Sessions: sessions.Book(), Memories: memories})
	if err != nil {
		panic(err)
	}
	var html strings.Builder
	if err := page.Write(&html); err != nil {
		panic(err)
	}
	shown := strings.Contains(html.String(), "The kiln is fired at 1240 degrees.")
	fmt.Println(page.AllSessions, page.AllMemories, shown)
	// Output: 0 1 true
}
