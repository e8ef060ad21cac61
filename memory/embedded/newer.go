package embedded

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// What was true once is told apart from what is true by sentences that say what changed: they name what is gone ("moved from X to Y", "no longer X"), or
// what has another value now ("raised the X to"). An older memory about that ranks behind them, and brings them with it where the prompt's own words did not.

// changes are the ways to say that something changed. Each has one group: what is not as it was.
var changed = []pattern{
	newPattern(`(?i)\b(?:mov|migrat|switch|chang|convert|port|went|transition)(?:ed|ing|es?)?\b(?: \S+){0,6}? (?:away )?from (.{2,60}?) (?:to|onto|over to)\b`),
	newPattern(`(?i)\b(?:replac|dropp|retir|abandon|deprecat|remov|ditch|decommission|kill|sunset)(?:ed|ing)\b (.{2,60}?)(?: (?:with|by|in favou?r|because|since|and|from|for|completely|entirely)\b|[.,;:]|$)`),
	newPattern(`(?i)\bno longer (?:use|host|run|need|support|deploy|keep|have|require|store|rely on|depend on|using|hosting|with|on)?\b ?(.{2,60}?)(?: (?:because|since|and|but)\b|[.,;:]|$)`),
	newPattern(`(?i)\b(?:instead of|rather than|in place of|stopped using|got rid of|moved (?:away|off)(?: from)?) (.{2,60}?)(?: (?:because|since|and|for|from now|but)\b|[.,;:]|$)`),
	newPattern(`(?i)(?:^|[.:,;] )(?:the )?([^.:,;]{2,60}?) (?:is|are|has been|have been|was|were) (?:finally |now |completely )*(?:gone|removed|retired|replaced|deprecated|dropped|obsolete|shut down|decommissioned|no longer)\b`),
	newPattern(`(?i)\b(?:rais|lower|increas|reduc|bump|upgrad|downgrad|chang|doubl|halv|shorten|extend|mov|renam|switch)(?:ed|ing|s)?\b (?:the |our |its |their )?(.{2,60}?) (?:from .{1,40} )?(?:to|back to|into|by)\b`),
	newPattern(`(?i)\b(?:the |our )?([^.:,;]{2,60}?) (?:moved|changed|went|increased|dropped|switched|rose)\b(?: from .{1,40}?)? to\b`),
	newPattern(`(?i)(?:\bstatt|\banstelle von) (.{2,60}?)(?: (?:weil|und|ab|für|verwenden|nutzen)\b|[.,;:]|$)`),
	newPattern(`(?i)\bvon (.{2,60}?) (?:auf|zu|nach) .{2,60}?(?:umgestiegen|umgestellt|gewechselt|migriert|umgezogen|erhöht|gesenkt)`),
	newPattern(`(?i)([\p{L}\d_-]{2,40})(?: wird| werden| ist| sind) nicht mehr\b`),
	newPattern(`(?i)\b(?:haben|hat|wurde) (.{2,60}?) (?:durch|mit) .{2,60}? ersetzt`),
	newPattern(`(?i)\b(?:remplacé|abandonné|supprimé) (.{2,60}?)(?: par\b|[.,;:]|$)`),
	newPattern(`(?i)\b(?:passés?|migrés?) de (.{2,60}?) (?:à|vers)\b`),
	newPattern(`(?i)\b(?:reemplaz|cambi|migr|sustitu)\p{L}+ (?:de )?(.{2,60}?) (?:por|a|con)\b`),
	newPattern(`从\s*(.{2,30}?)\s*(?:迁移|换|改|切换|升级)`),
	newPattern(`(?:不再(?:使用|用)?)\s*(.{2,30}?)(?:[，。,.]|$)`),
	newPattern(`(\S{2,30}?)(?:から|をやめて).{1,30}(?:移行|変更|切り替え)`),
}

const (
	mostChanges   = 12 // rows that may replace what was found
	mostNames     = 32 // terms by which they are looked for
	outdatedScore = 0.5
)

// tellsChange reports whether a text says that something changed.
func tellsChange(text string) bool {
	return slices.ContainsFunc(changed, func(p pattern) bool { return p().MatchString(text) })
}

// A change is a memory that says that something changed.
type change struct {
	document
	gone []string // what is not as it was
}

func changeOf(d document) change {
	c := change{document: d}
	for _, p := range changed {
		for _, m := range p().FindAllStringSubmatch(d.Content, -1) {
			c.gone = append(c.gone, m[1])
		}
	}
	return c
}

// outdates reports whether what the other memory says has changed.
func (c change) outdates(old document) bool {
	return c.Created.After(old.Created) && c.Project == old.Project && (c.turn == 0 || c.turn != old.turn) &&
		slices.ContainsFunc(c.gone, func(gone string) bool { return old.isAbout(gone, c.says) })
}

// isAbout reports whether a memory speaks of what changed: all of it, and where that is one plain word, of two more things that the change speaks of; or half of
// it and two more things.
func (d document) isAbout(gone string, says termSet) bool {
	what := telling(gone)
	held, more := 0, 0
	for t := range what {
		if d.says[t] {
			held++
		}
	}
	for t := range says {
		if d.says[t] && !what[t] && !stopped()[t] && !common()[t] {
			more++
		}
	}
	if held == len(what) && (held > 1 || held == 1 && name(gone)) {
		return true
	}
	return 2*held >= len(what) && held > 0 && more >= 2
}

// name reports whether a name or an identifier stands in a phrase.
func name(phrase string) bool {
	return slices.ContainsFunc(words(phrase), func(w word) bool { return len(w.parts()) > 1 || looks(string(w), false) == asName })
}

// succeed looks for newer memories that say that the best of what was found has changed, and puts them before it.
func (s *Store) succeed(ctx context.Context, found []document, in search) ([]document, error) {
	top := min(len(found), 2*in.most)
	later, err := s.changesSince(ctx, found[:top], in)
	if err != nil {
		return nil, err
	}
	for i := range top {
		for _, c := range later {
			if !c.outdates(found[i]) {
				continue
			}
			have := slices.IndexFunc(found, func(f document) bool { return f.id == c.id })
			if have < 0 {
				have = len(found)
				found = append(found, c.document)
			}
			found[have].score = max(found[have].score, found[i].score)
			found[i].score *= outdatedScore
			break
		}
	}
	return found, nil
}

// changesSince gives the changes in scope that are newer than something found and share its rarest terms, the newest first.
func (s *Store) changesSince(ctx context.Context, found []document, in search) ([]change, error) {
	if len(found) == 0 {
		return nil, nil
	}
	var list []asked
	oldest := found[0].Created
	for _, d := range found {
		if d.Created.Before(oldest) {
			oldest = d.Created
		}
		for t := range d.says {
			if !stopped()[t] && !common()[t] && !slices.ContainsFunc(list, func(a asked) bool { return a.term == t }) {
				list = append(list, asked{term: t})
			}
		}
	}
	df, _, err := s.frequencies(ctx, list)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b asked) int {
		return cmp.Or(cmp.Compare(df[a.term], df[b.term]), strings.Compare(a.term, b.term))
	})
	var match []string
	postings := 0
	for _, a := range list {
		if df[a.term] < 2 { // it stands nowhere else
			continue
		}
		if postings += df[a.term]; len(match) == mostNames || postings > mostPostings && len(match) > 0 {
			break
		}
		match = append(match, quote(a.term))
	}
	if len(match) == 0 {
		return nil, nil
	}
	rows, err := s.matching(ctx, in, in.match(match, changeTerm), mostChanges)
	if err != nil {
		return nil, err
	}
	docs, _ := documents(rows)
	var later []change
	for _, d := range docs {
		if d.Created.After(oldest) {
			later = append(later, changeOf(d))
		}
	}
	slices.SortStableFunc(later, func(a, b change) int { return b.Created.Compare(a.Created) })
	return later, nil
}
