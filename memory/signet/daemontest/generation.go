package daemontest

// Recorded are the generations that were run; All has the documented ones too.
var (
	Recorded = []Generation{Older, Middle}
	All      = []Generation{Older, Middle, Newer, Bound}
)

var behaviours = map[Generation]behaviour{
	Older: {
		version: "0.58.1", first: []string{statusLine, "[predictor: offline | baseline only]"},
		again: []string{statusLine}, maxStart: 24_000, forgets: true,
		least: 500, max: 100_000, cutMark: "\n[truncated]", job: "job",
	},
	Middle: {
		version: "0.145.8", first: []string{preamble, statusLine}, again: []string{preamble, statusLine},
		once: true, least: 500, max: 100_000, job: "job",
	},
	Newer: {
		version: "0.214.3", documented: true, first: []string{statusLine}, again: []string{statusLine},
		maxStart: 24_000, once: true, least: 1, max: 1 << 30, job: "capture",
	},
	Bound: {
		version: "1.0.1", documented: true, bound: true, first: []string{statusLine}, again: []string{statusLine},
		maxStart: 24_000, once: true, least: 1, max: 1 << 30, job: "capture",
	},
}

// Version is the version that the /health of a generation names.
func (g Generation) Version() string { return behaviours[g].version }

// Documented reports whether the generation was not run.
func (g Generation) Documented() bool { return behaviours[g].documented }

// SampleFiles are identity files with something to recognise in each.
var SampleFiles = map[string]string{
	"AGENTS.md":   "You are Alto, Robin's assistant. Answer briefly.",
	"SOUL.md":     "Calm, exact, a little dry.",
	"IDENTITY.md": "name: Alto\ndescription: Robin's assistant for the heron project",
	"USER.md":     "Robin works on the heron deployment and prefers tabs.",
	"MEMORY.md":   "# Working memory\nThe heron staging rollout is half done.",
}
