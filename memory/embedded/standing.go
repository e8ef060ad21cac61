package embedded

import (
	"context"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What a session should know from its start, whatever it will be about: what its user prefers, has decided and asked to
// be remembered. Everything else is found when a prompt asks for it.

// A note is a sentence of the user that holds until the user says otherwise.
type note struct {
	kind     string // preference, decision, fact
	personal bool   // true of the person, whatever the project
	content  string
}

// The phrases by which such sentences are recognised, in folded words; those of scripts without spaces may stand
// anywhere.
var (
	preferences = language.NewPhrases(`i prefer|i really like|i like|i love|i hate|i dislike|i don't like|i don't want|
		i'd rather|i always|i never|i usually|i strongly prefer|my favorite|my favourite|my preferred|please always|
		please never|always answer|always reply|
		call me|my name is|i am a|i'm a|i am allergic|i'm allergic|i live|i work|ich bevorzuge|ich mag|ich möchte kein|
		ich hasse|ich heiße|ich arbeite|ich wohne|mir ist|je préfère|je déteste|je m'appelle|je n'aime pas|j'aime|
		je travaille|
		prefiero|no me gusta|me gusta|me llamo|trabajo en|preferisco|mi chiamo|prefiro|não gosto|ik heb liever|
		я предпочитаю|меня зовут`,
		`我喜欢 我更喜欢 我偏好 我不喜欢 我讨厌 我习惯 我叫 が好き が嫌い 私の名前 선호합니다 좋아합니다 제이름은`)
	decisions = language.NewPhrases(`we decided|we've decided|we have decided|we agreed|we've agreed|we chose|
		we settled|decided to|decided on|we go with|we are going with|we're going with|going with|we went with|
		let's use|let's go with|let's keep|let's stick|
		from now on|we no longer|instead of|rather than|we moved|we switched|we switch|we migrated|we replaced|
		we dropped|will use|haben entschieden|wir haben uns|beschlossen|ab sofort|wir nehmen|statt|nous avons décidé|
		on a décidé|nous avons choisi|
		désormais|au lieu de|hemos decidido|decidimos|en lugar de|a partir de ahora|abbiamo deciso|d'ora in poi|
		decidimos|a partir de agora|we hebben besloten|мы решили`,
		`决定 改用 改为 换成 不再 采用 決めた 決定 ことにし 결정했 바꾸기로`)
	remembers = language.NewPhrases(`remember that|remember|note that|keep in mind|for the record|fyi|never forget|
		merke dir|merk dir|denk daran|souviens|rappelle|retiens|recuerda|ten en cuenta|ricorda|lembre|onthoud|
		запомни`, `记住 请记 覚えて 기억해`)
	ofPerson = language.NewPhrases(`i prefer|i like|i love|i hate|i dislike|i don't like|i'd rather|i always|i never|
		i usually|my favorite|my favourite|my name|call me|i am|i'm|i live|i work|please always|please never|
		always answer|always reply|ich bevorzuge|ich mag|ich heiße|ich arbeite|
		ich wohne|ich bin|je préfère|je m'appelle|je travaille|je suis|prefiero|me llamo|me gusta|no me gusta|
		preferisco|mi chiamo|prefiro`, `我喜欢 我更喜欢 我不喜欢 我讨厌 我习惯 我叫`)
)

const (
	mostNotes    = 8   // per turn
	noteLength   = 400 // bytes; a longer sentence is none
	mostStanding = 8   // items for a session's start
)

// standingNotes gives the sentences of what a user said that are notes. The same text gives the same notes.
func standingNotes(user string) []note {
	var notes []note
	for _, s := range language.Sentences(user) {
		if language.EndsInQuestion(s.Text) || len(notes) == mostNotes || len(s.Text) > noteLength || tooShort(s.Text) {
			continue
		}
		n := note{content: s.Text}
		changed, _ := passage.TellsChange(s.Text)
		switch {
		case preferences.In(s.Text):
			n.kind = "preference"
			n.personal = ofPerson.Begins(s.Text) && !strings.ContainsAny(s.Text, "/_`")
		case decisions.In(s.Text), changed && !remembers.Begins(s.Text):
			n.kind = "decision"
		case remembers.Begins(s.Text):
			n.kind = "fact"
		default:
			continue
		}
		if !slices.ContainsFunc(notes, func(have note) bool { return digest(have.content) == digest(n.content) }) {
			notes = append(notes, n)
		}
	}
	return notes
}

// tooShort reports whether a sentence says nothing to somebody who does not know its context.
func tooShort(text string) bool { return len(language.Terms(text)) < 2 }

// startItems gives what a session should know from its start: what a person has pinned, and the newest preferences and
// decisions of its project and of the person.
func (s *Store) startItems(ctx context.Context, session memory.Session) ([]memory.Item, error) {
	keys := [2]string{session.Key, session.ParentKey}
	own, err := s.sessionsOf(ctx, keys)
	if err != nil {
		return nil, err
	}
	all, err := sqlite.Collect(ctx, s.db, scanMemory, `SELECT `+memoryColumns+` FROM memories m
		WHERE (m.source = ?5 OR m.type IN ('preference', 'decision') AND m.origin = 'user') AND (m.project = ?1
		OR m.project = '' OR m.personal)
			AND m.session NOT IN (?6, ?7) AND (m.key = ''
			OR m.key NOT IN (?2, ?3))
		ORDER BY m.source = ?5 DESC, m.created DESC, m.id DESC
		LIMIT ?4`, session.Project, keys[0], keys[1], 4*mostStanding, Pinned, own[0], own[1])
	if err != nil {
		return nil, err
	}
	var items []memory.Item
	var said []language.Set
	for _, m := range all {
		set := language.SetOf(language.Terms(m.Content))
		if len(items) == mostStanding || memory.Instructs(m.Content) || repeats(set, said) {
			continue
		}
		said = append(said, set)
		items = append(items, m.item())
	}
	return items, nil
}

func (m Memory) item() memory.Item {
	return memory.Item{ID: m.ID, Text: m.Content, Project: m.Project, Origin: m.Origin, Date: m.Created, Score: m.Score}
}

// repeats reports whether set has mostly the same terms as one of the others.
func repeats(set language.Set, others []language.Set) bool {
	for _, other := range others {
		common := 0
		for t := range set {
			if other[t] {
				common++
			}
		}
		if 10*common >= 8*min(len(set), len(other)) && 10*common >= 6*max(len(set), len(other)) {
			return true
		}
	}
	return false
}

// Settled gives the sentences of a turn that settle something: decided are those in which its user decided, preferred
// or asked to remember something, agreed are decisions in the answer.
func Settled(user, assistant string) (decided, agreed []string) {
	for _, n := range standingNotes(user) {
		decided = append(decided, n.content)
	}
	for _, n := range standingNotes(assistant) {
		if n.kind == "decision" {
			agreed = append(agreed, n.content)
		}
	}
	return decided, agreed
}
