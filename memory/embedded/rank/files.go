package rank

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// Which files will work on a prompt touch? Earlier turns vote for the files that they edited or read, the more the
// better they bear on the prompt and the newer they are.

// A Kind is what a turn did with a file, the strongest last.
type Kind int

const (
	Named  Kind = iota // a command or a search named it
	Read               // it was read
	Edited             // it was changed, made or removed
)

// A Touch is what one turn did with one file.
type Touch struct {
	Session, Turn int64
	Path          string // from the project's top, with slashes
	Kind          Kind
	At            time.Time
}

// A File is where work on the prompt may be. Its Touch voted most for it, of equals the last.
type File struct {
	Touch
	Score float64 // comparable within one ranking
	Named float64 // how rare the words are that its path and the prompt share; 1: a word of no other path
}

// The weights were chosen on the sessions of three projects (docs/facts/recall.md, "Where the work is"). Near ones do
// as well.
const (
	together = .5  // share of the best bearing in a session that each of its turns gets
	contrast = 2   // power of a turn's bearing, beside the best
	aging    = .98 // of a vote, for each later session
	forRead  = .7  // of a vote: for a file that was read,
	forNamed = .25 // and for one that was named
	recent   = .25 // of the best file's votes: for each file that the last session edited,
	recentBy = .8  // and its aging
	byName   = .08 // of the best file's votes, for each unit of IDF of the words in a path that the prompt has
)

// Where few words of a prompt were said before, and no path has them, its work may lie anywhere. The weights were
// fitted on halves of the sessions, and rounded (docs/facts/recall.md).
const (
	bothSay = .8  // of the most that a path to be told is Named, beside how much the best turn bears on the prompt,
	atLeast = .82 // and what they must be together
)

// FilesWorthTelling reports whether files are worth telling without being asked for. bears is what Files says.
func FilesWorthTelling(bears float64, files []File) bool {
	named := 0.0
	for _, f := range files {
		named = max(named, f.Named)
	}
	return bears+bothSay*named > atLeast
}

// Files orders the files of some touches, the best first, and says how much the best turn bears on the prompt. touches
// are in the order of their turns; ranked is what was said.
func (q *Query) Files(touches []Touch, ranked []*Passage) (files []File, bearing float64) {
	ages := map[int64]float64{} // of each session: how many touched files after it
	for _, t := range slices.Backward(touches) {
		if _, known := ages[t.Session]; !known {
			ages[t.Session] = float64(len(ages))
		}
	}
	best := map[string]File{}
	votes := map[string]float64{}
	bears, bearing := bearings(touches, ranked)
	for _, t := range touches {
		v := math.Pow(bears[t.Turn], contrast) * math.Pow(aging, ages[t.Session]) * kindWeights[t.Kind]
		votes[t.Path] += v
		if v >= best[t.Path].Score {
			best[t.Path] = File{Touch: t, Score: v}
		}
	}
	most := 0.0
	for _, v := range votes {
		most = max(most, v)
	}
	lately := map[Touch]bool{} // edits, each session's once
	for _, t := range touches {
		if in := (Touch{Session: t.Session, Path: t.Path}); t.Kind == Edited && !lately[in] {
			lately[in] = true
			votes[t.Path] += recent * most * math.Pow(recentBy, ages[t.Session])
		}
	}
	held := q.named(votes)
	for path, score := range votes {
		if score += byName * most * held[path]; score > 0 {
			files = append(files, File{best[path].Touch, score, held[path] / math.Log(float64(len(votes)+1))})
		}
	}
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path))
	})
	return files, bearing
}

func (k Kind) String() string { return [...]string{"named", "read", "edited"}[k] }

var kindWeights = [...]float64{forNamed, forRead, 1}

// bearings returns how much each turn with files bears on the prompt, beside the best one, and how much that does.
func bearings(touches []Touch, ranked []*Passage) (bears map[int64]float64, most float64) {
	said := map[int64]float64{}
	ofSession := map[int64]float64{}
	for _, p := range ranked {
		if p.Turn != 0 {
			said[p.Turn] = max(said[p.Turn], p.Own)
			ofSession[p.Thread] = max(ofSession[p.Thread], p.Own)
		}
	}
	bears = map[int64]float64{}
	for _, t := range touches {
		bears[t.Turn] = said[t.Turn] + together*ofSession[t.Session]
		most = max(most, bears[t.Turn])
	}
	for turn := range bears {
		bears[turn] /= max(most, 1e-9)
	}
	return bears, most
}

// named returns the sum of the IDF, among paths, of the words that each path shares with the prompt.
func (q *Query) named(paths map[string]float64) map[string]float64 {
	words := language.Set{}
	for _, t := range q.Terms {
		for _, form := range t.Forms {
			words[form] = true
		}
	}
	in := map[string]float64{}
	shared := map[string][]string{}
	for path := range paths {
		for term := range language.SetOf(language.Terms(path)) {
			if in[term]++; words[term] {
				shared[path] = append(shared[path], term)
			}
		}
	}
	sums := map[string]float64{}
	for path, terms := range shared {
		for _, term := range terms {
			sums[path] += math.Log(float64(len(paths)) / in[term])
		}
	}
	return sums
}
