//go:build unix

package embedded

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// BenchmarkRecall reports what a prompt costs, at three sizes of the store: the questions of testdata/recall, asked
// of its words with names in between, in conversations of forty passages. The processor's time is told besides what
// passes: other work on the machine does not count in it.
func BenchmarkRecall(b *testing.B) {
	for _, size := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("%dk", size/1000), func(b *testing.B) {
			w := newWorld(b)
			text := w.fill(size)
			questions := readQuestions(b)
			var took, busy []time.Duration
			for i := 0; b.Loop(); i++ {
				q := questions[i%len(questions)]
				begun, used := time.Now(), processorTime(b)
				if _, err := w.Recall(b.Context(), memory.Session{Key: "asking", Project: q.project},
					q.text, nil); err != nil {
					b.Fatal(err)
				}
				took, busy = append(took, time.Since(begun)), append(busy, processorTime(b)-used)
			}
			for name, list := range map[string][]time.Duration{"": took, "cpu-": busy} {
				slices.Sort(list)
				b.ReportMetric(list[len(list)/2].Seconds()*1000, name+"p50-ms")
				b.ReportMetric(list[len(list)*99/100].Seconds()*1000, name+"p99-ms")
			}
			b.ReportMetric(float64(w.size())/float64(text), "file/text")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// size is that of the database file, its log folded in.
func (w *world) size() int64 {
	w.t.Helper()
	var path string
	var busy, logged, folded int
	if err := w.db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &folded); err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path); err != nil {
		w.t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return info.Size()
}

// fill stores so many passages, of the corpus' own words, shuffled by how often they stand in it, so that common
// words are common. It returns how long their text is.
func (w *world) fill(size int) (text int64) {
	w.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var bag, projects []string
	for _, c := range readConversations(w.t) {
		for _, text := range c.texts {
			bag = append(bag, strings.Fields(text)...)
		}
		projects = append(projects, c.project)
	}
	const turnsOfSession = 20
	ctx := w.t.Context()
	for done, session := 0, 1; done < size; session++ {
		err := sqlite.Write(ctx, w.db, "filling", func(tx *sql.Tx) error {
			at := w.now.Add(-time.Duration(random.IntN(365*24)) * time.Hour).UnixMilli()
			project := projects[random.IntN(len(projects))]
			_, err := tx.Exec(`INSERT INTO sessions (id, harness, acp_id, key, project, state, started, last_active)
				VALUES (?, 'h', ?, ?, ?, 'done', ?,
				?)`, session, fmt.Sprint("a", session), fmt.Sprint("k", session), project, at, at)
			if err != nil {
				return err
			}
			for range turnsOfSession {
				t := correlation.Said{Session: int64(session), Key: fmt.Sprint("k", session), Started: at,
					Project: project}
				for _, side := range []*string{&t.User, &t.Assistant} {
					words := make([]string, 8+random.IntN(40))
					for i := range words {
						words[i] = bag[random.IntN(len(bag))]
						if random.IntN(6) == 0 { // real texts name things that stand nowhere else
							words[i] = fmt.Sprintf("name%d", random.IntN(size))
						}
					}
					*side = strings.Join(words, " ")
					text += int64(len(*side))
					done++
				}
				err := tx.QueryRow(`INSERT INTO turns (session, key, process, started, ended, learned, user, assistant)
					VALUES (?, ?, 'p', ?, ?, 1, ?, ?) RETURNING id`, session, t.Key, at, at, t.User,
					t.Assistant).Scan(&t.Turn)
				if err != nil {
					return err
				}
				if _, err := saveLearned(ctx, tx, readTurn(t), math.MaxInt); err != nil {
					return err
				}
			}
			return refresh(ctx, tx, math.MaxInt32)
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return text
}
