package embedded

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// BenchmarkRecall reports what a prompt waits for, at two sizes of the store: the questions of testdata/recall, asked of its sentences with the names in them
// drawn anew and of texts with the frequencies of English.
func BenchmarkRecall(b *testing.B) {
	needsSearch(b)
	for _, size := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%dk", size/1000), func(b *testing.B) {
			w := newWorld(b)
			w.fill(size)
			questions := readQuestions(b)
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				q := questions[i%len(questions)]
				begun := time.Now()
				if _, err := w.Recall(b.Context(), memory.Session{Key: "asking", Project: q.project}, q.text, nil); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}

// fill stores size memories: the corpus' own words, shuffled by how often they stand in it, so that common words are common.
func (w *world) fill(size int) {
	w.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var bag, projects []string
	for _, c := range readConversations(w.t) {
		for _, text := range c.texts {
			bag = append(bag, strings.Fields(text)...)
		}
		projects = append(projects, c.project)
	}
	for done := 0; done < size; {
		err := w.write(w.t.Context(), "filling", func(tx *sql.Tx) error {
			for range 1000 {
				words := make([]string, 8+random.IntN(25))
				for i := range words {
					words[i] = bag[random.IntN(len(bag))]
					if random.IntN(6) == 0 { // real texts name things that stand nowhere else
						words[i] = fmt.Sprintf("name%d", random.IntN(size))
					}
				}
				m := Memory{Content: strings.Join(words, " "), Project: projects[random.IntN(len(projects))]}
				if err := m.prepare(w.now.Add(-time.Duration(random.IntN(365*24)) * time.Hour)); err != nil {
					return err
				}
				if err := w.insert(w.t.Context(), tx, m); err != nil {
					return err
				}
				done++
			}
			return w.refresh(w.t.Context(), tx)
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
}
