package delegation

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A word is what a child that works is told. It waits in the delegation's row, for the runner is another process.
type word struct {
	By   string `json:"by"` // an agent; "": a person
	Text string `json:"text"`
}

const (
	maxWords = 20     // that wait at once
	noWords  = "[]"   // none waits
	deaf     = "deaf" // the child is leaving: it is told nothing any more
)

// Tell has a child told something: in its turn where its agent takes that, else when the turn has ended.
func (s *Service) Tell(ctx context.Context, who Caller, id, text string) (Delegation, error) {
	d, err := s.find(ctx, who, id)
	if err != nil {
		return d, err
	}
	if text = strings.TrimSpace(clean(text)); text == "" || len(text) > maxTask {
		return d, fmt.Errorf("the prompt must have 1 to %d bytes, without secrets", maxTask)
	}
	told := false
	if !d.State.Ended() {
		by := ""
		if !who.Person {
			by = who.Harness
		}
		told, err = s.Ledger.addWord(ctx, d.ID, word{by, text})
	}
	if err == nil && !told {
		err = fmt.Errorf("its last turn has ended, or %d messages wait: delegate again with continues: %s", maxWords,
			d.ID)
	}
	return d, err
}

// addWord puts a word into a row, if its child is still told any.
func (l *Ledger) addWord(ctx context.Context, id string, w word) (done bool, err error) {
	err = sqlite.Write(ctx, l.db, "telling a child", func(tx *sql.Tx) error {
		n, err := sqlite.Change(ctx, tx, `UPDATE delegations SET words = json_insert(words, '$[#]', json(?))
			WHERE id = ? AND ended = 0 AND words <> ? AND json_array_length(words) < ?`, column(w), id, deaf, maxWords)
		done = n > 0
		return err
	})
	return done, err
}

// takeWords returns what a child is to be told next. Where nothing is, and it leaves, it is told nothing any more.
func (l *Ledger) takeWords(ctx context.Context, id string, leaves bool) (words []word, err error) {
	const doing = "looking for what a child is told"
	if !leaves {
		waits, err := sqlite.Optional[bool](l.db.QueryRowContext(ctx, `SELECT words NOT IN (?, ?) FROM delegations
			WHERE id = ?`, noWords, deaf, id))
		if err != nil || !waits {
			return nil, sqlite.While(doing, err)
		}
	}
	err = sqlite.Write(ctx, l.db, doing, func(tx *sql.Tx) error {
		var text string
		err := tx.QueryRowContext(ctx, `SELECT words FROM delegations WHERE id = ?`, id).Scan(&text)
		if err != nil || text == deaf || text == noWords && !leaves {
			return err
		}
		left := noWords
		if text == noWords {
			left = deaf
		}
		_, err = tx.ExecContext(ctx, `UPDATE delegations SET words = ? WHERE id = ?`, left, id)
		return errors.Join(err, json.Unmarshal([]byte(text), &words))
	})
	return words, err
}

// nextPrompt returns the prompt in which a child is told words: theirs alone, and behind them who says it, if that is
// no person.
func nextPrompt(words []word) string {
	var texts []string
	by := ""
	for _, w := range words {
		texts, by = append(texts, w.Text), cmp.Or(w.By, by)
	}
	text := strings.Join(texts, "\n\n")
	if by != "" {
		text += wording + " (" + by + "), beside your task. Your answer goes back, too.\n"
	}
	return text
}
