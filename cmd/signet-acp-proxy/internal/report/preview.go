package report

import (
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// Preview prints why each file and memory is told or left out.
func Preview(p runtime.Preview, std term.Streams) {
	std.Say("from: %s", p.Source)
	for _, f := range p.Files {
		std.Say("%s: %s", f.File, f.Why)
	}
	for _, o := range p.Out {
		if o.File != "" {
			std.Say("%s: out: %s", o.File, o.Why)
		}
	}
	for _, it := range p.Items {
		record := ""
		if it.Record != "" {
			record = "; " + it.Record
		}
		std.Say("memory %s (%s, score %.2f): in%s", term.Cut(chars.Printable(it.ID), 40), it.Why, it.Score, record)
	}
	for _, o := range p.Out {
		if o.File == "" {
			std.Say("memory %s: out: %s", term.Cut(chars.Printable(o.ID), 40), o.Why)
		}
	}
}
