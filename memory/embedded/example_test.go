package embedded_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func ExampleStore_Search() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := migrations.Open(ctx, filepath.Join(dir, "acp", "sessions.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	store := embedded.New(db, embedded.Options{SignetPath: dir})
	for _, text := range []string{"The mast of the Curlew is 11.42 metres long.",
		"Ines prefers a spokeshave to a plane."} {
		if _, _, err := store.Add(ctx, embedded.Memory{Content: text, Project: "/boats"}); err != nil {
			fmt.Println(err)
			return
		}
	}
	found, err := store.Search(ctx, embedded.Query{Text: "how long is the Curlew's mast?", Limit: 1, Project: "/boats"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found[0].Content)
	// Output: The mast of the Curlew is 11.42 metres long.
}
