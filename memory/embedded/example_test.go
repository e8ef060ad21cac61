package embedded_test

import (
	"context"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
)

func ExampleStore_Search() {
	ctx := context.Background()
	db, dir, remove := correlationtest.Open()
	defer remove()
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
