package backfill

import "strings"

// amp is Amp: ~/.local/share/amp/threads/T-….json, a thread a file (seen: threads of 0.0.1774959077, as deja-vu at
// 3f9978ff reads them). Later versions keep their threads on a server.
var amp = format{
	agent: "amp",
	roots: func(p Place) []string { return []string{p.data("amp", "threads")} },
	match: func(rel string) bool { return strings.HasSuffix(rel, ".json") },
	read: jsonFile(func(b *builder, thread struct {
		ID      string `json:"id"`
		Created stamp  `json:"created"`
		Env     struct {
			Initial struct {
				Trees []struct {
					URI string `json:"uri"`
				} `json:"trees"`
			} `json:"initial"`
		} `json:"env"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
			Meta    struct {
				SentAt stamp `json:"sentAt"`
			} `json:"meta"`
			Usage struct {
				Timestamp stamp `json:"timestamp"`
			} `json:"usage"`
		} `json:"messages"`
	}) {
		b.ID = thread.ID
		for _, tree := range thread.Env.Initial.Trees {
			b.addFolders(pathOf(tree.URI))
		}
		at := thread.Created.Time
		for _, m := range thread.Messages {
			at = latest(at, m.Meta.SentAt.Time, m.Usage.Timestamp.Time)
			b.say(m.Role, m.Content, at)
		}
	}),
}
