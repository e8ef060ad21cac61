package language

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A Range is the time that a question names: whole days in UTC, To excluded.
type Range struct{ From, To time.Time }

// Days is its length in days.
func (r Range) Days() float64 { return r.To.Sub(r.From).Hours() / 24 }

// FindTime looks for the first time that a text names: a date, a month, a year, or a time as seen from now ("last
// week"). rest is the text without it.
func FindTime(text string, now time.Time) (r Range, rest string, ok bool) {
	if len(text) > 4<<10 { // it is no question
		return Range{}, text, false
	}
	now = now.UTC()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	words := Words(text)
	folded := make([]string, len(words))
	for i, w := range words {
		folded[i] = w.Folded
	}
	cut := func(from, to int) string { return text[:from] + " " + text[to:] }
	for i := range words {
		if r, n, ok := explicit(folded[i:]); ok {
			return r, cut(words[i].At, words[i+n-1].At+len(words[i+n-1].Text)), true
		}
	}
	lang, _ := languageOf(words)
	try := []set{lang} // all, the likeliest first: a short question may have no stop words to know its language by
	for l := english_; l <= all; l <<= 1 {
		if l != lang && !(lang == german_ && l == french_) { // "hier" means here
			try = append(try, l)
		}
	}
	for _, in := range try {
		t := calendars()[in]
		for i := range words {
			if r, n, ok := t.at(folded, i, today); ok {
				return r, cut(words[i].At, words[i+n-1].At+len(words[i+n-1].Text)), true
			}
		}
	}
	return unspacedTime(text, today)
}

// explicit reads a date in digits at the start of words, and returns how many words it takes: 2026-03-12, 12.03.2026,
// 3/12/2026 (month first, unless that cannot be).
func explicit(words []string) (Range, int, bool) {
	if strings.IndexFunc(words[0], unicode.IsDigit) != 0 {
		return Range{}, 0, false
	}
	for _, layout := range []string{time.DateOnly, "2.1.2006", "1 2 2006", "2 1 2006"} {
		n := 1 + strings.Count(layout, " ")
		text := strings.TrimRight(strings.Join(words[:min(n, len(words))], " "), ".")
		if layout == time.DateOnly { // a time may stand behind it
			text = text[:min(len(text), len(layout))]
		}
		if from, err := time.Parse(layout, text); err == nil && from.Year() > 1900 {
			return Range{from, from.AddDate(0, 0, 1)}, n, true
		}
	}
	return Range{}, 0, false
}

// dates are how a date is written with the name of a month, in any language.
var dates = alternatives(`day of month of year|month day of year|day of month|month day|month of year|name`)

// rolling begin patterns of ago that mean all of the time since ("the last three weeks"), not a time so long ago.
var rolling = WordSet(`last past previous letzten die les los las gli os afgelopen последние`)

// at reads a time at words[i] and returns how many words it takes.
func (t calendar) at(words []string, i int, today time.Time) (Range, int, bool) {
	for n := min(longestPhrase, len(words)-i); n > 0; n-- {
		if s, ok := t.phrases[strings.Join(words[i:i+n], " ")]; ok {
			return s.seenFrom(today), n, true
		}
	}
	for _, pattern := range t.ago {
		switch m, n, ok := t.match(pattern, words[i:]); {
		case ok && rolling()[pattern[0]]:
			return Range{m.seenFrom(today).From, today.AddDate(0, 0, 1)}, n, true
		case ok:
			return m.near(today), n, true
		}
	}
	for _, pattern := range dates {
		m, n, ok := t.match(pattern, words[i:])
		vague := n == 1 && ambiguousMonths()[words[i]] && (i == 0 || len(t.on) > 0 && !t.on[words[i-1]])
		if ok && !vague {
			return inMonth(m.year, m.month+1, m.day, today), n, true
		}
	}
	if d, ok := t.weekdays[words[i]]; ok { // the last one: of today it is that of a week ago
		back := (int(today.Weekday())-d+12)%7 + 1
		return span{'d', back}.seenFrom(today), 1, true
	}
	return Range{}, 0, false
}

// A moment is what words say that match a pattern: how long ago, or which day.
type moment struct {
	span
	day, month, year int // month from 0 on
}

// match matches the beginning of words with a pattern, and returns how many it takes. In a pattern n is a number, u a
// unit, day, month and year are those of a date, name is a month that is written in full, and of may be left out.
func (t calendar) match(pattern, words []string) (m moment, taken int, ok bool) {
	for _, p := range pattern {
		w := ""
		if taken < len(words) {
			w = words[taken]
		}
		switch p {
		case "n":
			m.back, ok = count(w)
		case "u":
			unit := 0
			unit, ok = t.units[w]
			m.unit = units[unit]
		case "day":
			m.day, ok = ordinal(w)
		case "month":
			m.month, ok = t.short[w]
		case "name":
			m.month, ok = t.months[w]
		case "year":
			m.year, _ = strconv.Atoi(w)
			ok = len(w) == 4 && m.year > 0
		case "of":
			if w != "of" && w != "de" {
				continue
			}
		default:
			ok = p == w
		}
		if !ok {
			return m, 0, false
		}
		taken++
	}
	return m, taken, true
}

// counts has the numerals of several languages.
var counts = sync.OnceValue(func() map[string]int {
	m := map[string]int{"a": 1, "an": 1, "couple": 2, "few": 3, "einem": 1, "einer": 1, "un": 1, "une": 1, "una": 1,
		"uno": 1, "um": 1, "uma": 1, "een": 1}
	for _, list := range []string{`one two three four five six seven eight nine ten`,
		`ein zwei drei vier fünf sechs sieben acht neun zehn`, `un deux trois quatre cinq six sept huit neuf dix`,
		`uno dos tres cuatro cinco seis siete ocho nueve diez`, `uno due tre quattro cinque sei sette otto nove dieci`,
		`um dois três quatro cinco seis sete oito nove dez`, `een twee drie vier vijf zes zeven acht negen tien`} {
		for i, w := range strings.Fields(list) {
			m[Fold(w)] = i + 1
		}
	}
	return m
})

// count reads a numeral.
func count(w string) (int, bool) {
	if n, ok := counts()[w]; ok {
		return n, true
	}
	n, err := strconv.Atoi(w)
	return n, err == nil && n > 0 && n < 1000
}

// seenFrom returns the span in whole days, weeks (from Monday), months or years.
func (s span) seenFrom(today time.Time) Range {
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	switch s.unit {
	case 'd':
		from := today.AddDate(0, 0, -s.back)
		return Range{from, from.AddDate(0, 0, 1)}
	case 'w':
		from := monday.AddDate(0, 0, -7*s.back)
		return Range{from, from.AddDate(0, 0, 7)}
	case 'e': // weekend
		from := monday.AddDate(0, 0, -2)
		return Range{from, from.AddDate(0, 0, 2)}
	case 'm':
		from := time.Date(today.Year(), today.Month()-time.Month(s.back), 1, 0, 0, 0, 0, time.UTC)
		return Range{from, from.AddDate(0, 1, 0)}
	}
	from := time.Date(today.Year()-s.back, 1, 1, 0, 0, 0, 0, time.UTC)
	return Range{from, from.AddDate(1, 0, 0)}
}

// near returns the days around that long ago: "three weeks ago" does not mean a week from Monday on.
func (s span) near(today time.Time) Range {
	switch s.unit {
	case 'w':
		from := today.AddDate(0, 0, -7*s.back-3)
		return Range{from, from.AddDate(0, 0, 7)}
	case 'm':
		from := today.AddDate(0, -s.back, -15)
		return Range{from, from.AddDate(0, 0, 31)}
	}
	return s.seenFrom(today)
}

// inMonth returns a day of a month, or all of it for day 0 and for one that it does not have; of year 0 it is the last
// such month that has begun.
func inMonth(year, month, d int, today time.Time) Range {
	if year == 0 {
		year = today.Year()
		if time.Date(year, time.Month(month), max(d, 1), 0, 0, 0, 0, time.UTC).After(today) {
			year--
		}
	}
	if from := time.Date(year, time.Month(month), d, 0, 0, 0, 0, time.UTC); d > 0 && from.Day() == d {
		return Range{from, from.AddDate(0, 0, 1)}
	}
	from := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	return Range{from, from.AddDate(0, 1, 0)}
}

// ordinal reads a day of the month: 3, 3rd, 3º.
func ordinal(w string) (int, bool) {
	bare := strings.TrimRight(w, "stndrheº")
	if bare == "" || len(bare) > 2 {
		return 0, false
	}
	n, err := strconv.Atoi(bare)
	return n, err == nil && n >= 1 && n <= 31
}

// Dates and times ago in Chinese, Japanese and Korean, and the units and numerals in them.
var (
	unspacedDay = pattern.New(`(?:(\d{4})\s*[年년]\s*)?(\d{1,2}|十[一二]|[一二三四五六七八九十])\s*[月월]\s*` +
		`(?:(\d{1,2})\s*[日号號일])?`)
	unspacedSince = pattern.New(`(\d{1,3}|[一二两三四五六七八九十])\s*` +
		`(天|日|일|个?星期|周|週間|주|个月|か月|ヶ月|개월|年|년)\s*(?:以?前|전)`)
	unspacedUnits = map[string]byte{"天": 'd', "日": 'd', "일": 'd', "个月": 'm', "か月": 'm', "ヶ月": 'm', "개월": 'm',
		"年": 'y', "년": 'y'} // the others are weeks
	unspacedNumerals = map[string]int{"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
		"九": 9, "十": 10, "十一": 11, "十二": 12}
)

// unspacedTime reads a time in Chinese, Japanese, Korean or Thai.
func unspacedTime(text string, today time.Time) (r Range, rest string, ok bool) {
	if !strings.ContainsFunc(text, unspaced) {
		return Range{}, text, false
	}
	for _, t := range unspacedTimes {
		if at := strings.Index(text, t.said); at >= 0 {
			return t.span.seenFrom(today), text[:at] + " " + text[at+len(t.said):], true
		}
	}
	read := func(m []int, group int) string {
		if m[2*group] < 0 {
			return ""
		}
		return text[m[2*group]:m[2*group+1]]
	}
	number := func(m []int, group int) int {
		n, _ := strconv.Atoi(read(m, group))
		return cmp.Or(n, unspacedNumerals[read(m, group)])
	}
	without := func(m []int) string { return text[:m[0]] + " " + text[m[1]:] }
	if m := unspacedSince().FindStringSubmatchIndex(text); m != nil {
		return span{cmp.Or(unspacedUnits[read(m, 2)], 'w'), number(m, 1)}.near(today), without(m), true
	}
	if m := unspacedDay().FindStringSubmatchIndex(text); m != nil && number(m, 2) >= 1 && number(m, 2) <= 12 {
		return inMonth(number(m, 1), number(m, 2), number(m, 3), today), without(m), true
	}
	return Range{}, text, false
}
