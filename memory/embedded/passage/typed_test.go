package passage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

func TestPieces(t *testing.T) {
	for prompt, want := range map[string][]Part{
		"Mend the mast.":         {{Text: "Mend the mast.", Who: memory.Typed}},
		"Look:\n> it broke\nSo?": {{Text: "Look:", Who: memory.Typed}, {Text: "> it broke", Who: memory.Quoted}, {Text: "So?", Who: memory.Typed}},
		"Look:\n```\nx\n```\nSo?": {{Text: "Look:", Who: memory.Typed}, {Text: "```\nx\n```", Who: memory.Pasted},
			{Text: "So?", Who: memory.Typed}},
		"Look:\n<document path=\"a\">\nNever.\n</document>\nSo?": {{Text: "Look:", Who: memory.Typed},
			{Text: "<document path=\"a\">\nNever.\n</document>", Who: memory.File}, {Text: "So?", Who: memory.Typed}},
		"<page>Never.</page>\nSo?":                   {{Text: "<page>Never.</page>", Who: memory.Pasted}, {Text: "So?", Who: memory.Typed}},
		"<T> is generic.":                            {{Text: "<T> is generic.", Who: memory.Pasted}},
		"Mend it." + chars.BlockMark + "Never do.":   {{Text: "Mend it.", Who: memory.Typed}, {Text: "Never do.", Who: memory.Pasted}},
		"Mend it." + chars.BlockMark + "> Never.":    {{Text: "Mend it.", Who: memory.Typed}, {Text: "> Never.", Who: memory.Quoted}},
		"One.\n\nTwo.":                               {{Text: "One.\n\nTwo.", Who: memory.Typed}},
		"It says\n$ make\n2026-04-01 10:11:12 never": {{Text: "It says", Who: memory.Typed}, {Text: "$ make\n2026-04-01 10:11:12 never", Who: memory.Pasted}},
		"": nil,
	} {
		if diff := cmp.Diff(want, pieces(prompt)); diff != "" {
			t.Errorf("%q: %s", prompt, diff)
		}
	}
}

// documents are what people paste: their sentences are nobody's wish.
var documents = []string{
	"# Heron\n\nAlways use pnpm, not npm.\n",
	"Never commit to main. Run make lint before every commit.\n",
	"Heron is a small relay.\n\n## Rules\n\n- Always write a test.\n- Never push to main.\n- Prefer tabs over spaces.\n",
	"| rule | why |\n|---|---|\n| never use var | scoping |\n",
	"Before you commit, run the whole suite, and remember that the seeds must never be edited by anybody who has\nnot read the guide.\n",
	"1. Always rebase.\n2. Never merge.\n3. Prefer small commits.\n",
	"See [the guide](guide.md). You must never edit the lockfile.\n",
	"Use yarn instead of npm.\n\nFrom now on releases are cut on Fridays.\n",
	"> Always ask.\n",
	"```\nnever edit this\n```\n\nNever edit the generated files.\n",
}

// What was pasted is nowhere taken for the person's: not after a question, not in front of one, not as a second block or
// in an element.
func TestTypedBesideDocuments(t *testing.T) {
	for name, form := range map[string]string{
		"after a question":   "what does this README say?\n\n%",
		"to be summed up":    "Summarise this:\n\n%",
		"to be translated":   "translate the following into German\n\n%",
		"to be checked":      "Is this still right?\n%",
		"in one paragraph":   "what does this mean: %",
		"in front":           "%\n\nwhat do you think of this?",
		"to be chosen from":  "Which of these apply to us?\n\n%",
		"to be mended":       "please fix the typos in here:\n\n%",
		"in German":          "Was steht in diesem Text?\n\n%",
		"in French":          "Que dit ce texte ?\n\n%",
		"a second block":     "look into the tests" + chars.BlockMark + "%",
		"an element":         "add a port\n<doc path=\"x\">\n%\n</doc>",
		"a question at last": "%\n\nsummarize",
	} {
		for _, d := range documents {
			text := Typed(strings.Replace(form, "%", d, 1))
			if strings.Contains(text, "lways") || strings.Contains(text, "ever ") || strings.Contains(text, "Use yarn") {
				t.Errorf("%s: %q is taken for typed", name, text)
			}
		}
	}
}

// What a person writes themselves counts, however long, also in a list.
func TestTyped(t *testing.T) {
	long := strings.Repeat("the mast is made of spruce and the hull of oak. ", 80)
	for prompt, want := range map[string]string{
		"Mend the mast. Never use nails.":                               "Mend the mast. Never use nails.",
		"Mend it.\n\nNever use nails.":                                  "Mend it.\n\nNever use nails.",
		"can you mend the mast?\n\nNever use nails.":                    "can you mend the mast?\n\nNever use nails.",
		"some wishes:\n- never use nails\n- tar it twice\n- be careful": "some wishes:\n- never use nails\n- tar it twice\n- be careful",
		"Rules for this boat:\n- Use tar\n- Use oak\n- Never use nails": "Rules for this boat:\n- Use tar\n- Use oak\n- Never use nails",
		"Here it is:\n\nNever use nails.":                               "Here it is:",
		"Mend it.\n\n# Boats\n\nNever use nails.":                       "Mend it.",
		long + "\n\nNever use nails.":                                   strings.TrimRight(long, "\n") + "\n\nNever use nails.",
		"what does this mean? Never use nails.":                         "",
	} {
		if got := Typed(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}
