package language

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// A calendar is how times are said in a language, in folded words.
type calendar struct {
	months, weekdays map[string]int  // from January and from Monday on
	short            map[string]int  // months, also by their first three or four letters
	units            map[string]int  // as the constant has them
	ago              [][]string      // patterns, as match reads them
	on               Set             // before the name of an ambiguous month they make it a time
	said             map[span]string // other ways to say times
	phrases          map[string]span // the same, by the words of each
}

// units are those of a span: day, week, month, year.
const units = "dwmy"

// A span is a time as seen from today: how many units back it is. It is one unit long.
type span struct {
	unit byte // one of units, or e for weekend
	back int
}

var calendars = sync.OnceValue(func() map[set]calendar {
	all := map[set]calendar{
		english_: {
			months:   numbered(`january|february|march|april|may|june|july|august|september|october|november|december`),
			weekdays: numbered(`monday|tuesday|wednesday|thursday|friday|saturday|sunday`),
			units:    numbered(`day days|week weeks|month months|year years`),
			ago:      alternatives(`n u ago|n u back|last n u|past n u|previous n u`),
			on:       SetOf(strings.Fields(`in of since during last this until early late mid by from before after`)),
			said: map[span]string{
				{'d', 0}: `today|this morning|this afternoon`, {'d', 1}: `yesterday|last night`,
				{'d', 2}: `day before yesterday|the day before yesterday`,
				{'w', 0}: `this week`, {'w', 1}: `last week|previous week|past week`, {'w', 2}: `week before last`,
				{'m', 0}: `this month`, {'m', 1}: `last month|previous month|past month`, {'y', 0}: `this year`,
				{'y', 1}: `last year|previous year`, {'e', 1}: `last weekend|the weekend`,
			},
		},
		german_: {
			months:   numbered(`januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember`),
			weekdays: numbered(`montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag`),
			units:    numbered(`tag tage tagen|woche wochen|monat monate monaten|jahr jahre jahren`),
			ago:      alternatives(`vor n u|letzten n u|die letzten n u`),
			said: map[span]string{
				{'d', 0}: `heute`, {'d', 1}: `gestern`, {'d', 2}: `vorgestern`, {'w', 0}: `diese woche|dieser woche`,
				{'w', 1}: `letzte woche|letzter woche|vorige woche|voriger woche|vergangene woche|letzten woche`,
				{'m', 0}: `diesen monat|diesem monat`, {'m', 1}: `letzten monat|vorigen monat|letztem monat`,
				{'y', 0}: `dieses jahr|diesem jahr`, {'y', 1}: `letztes jahr|voriges jahr|letzten jahr`,
				{'e', 1}: `letztes wochenende|am wochenende`,
			},
		},
		french_: {
			months:   numbered(`janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre`),
			weekdays: numbered(`lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche`),
			units:    numbered(`jour jours|semaine semaines|mois|an ans année années`),
			ago:      alternatives(`il y a n u|les n derniers u|les n dernières u`),
			said: map[span]string{
				{'d', 0}: `aujourd'hui`, {'d', 1}: `hier`, {'d', 2}: `avant-hier`, {'w', 0}: `cette semaine`,
				{'w', 1}: `semaine dernière|semaine passée|dernière semaine`,
				{'m', 0}: `ce mois-ci`, {'m', 1}: `mois dernier|mois passé`, {'y', 0}: `cette année`,
				{'y', 1}: `année dernière|an dernier`, {'e', 1}: `week-end dernier|ce week-end`,
			},
		},
		spanish_: {
			months: numbered(`enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|
				noviembre|diciembre`),
			weekdays: numbered(`lunes|martes|miércoles|jueves|viernes|sábado|domingo`),
			units:    numbered(`día días|semana semanas|mes meses|año años`),
			ago:      alternatives(`hace n u|los últimos n u|las últimas n u`),
			said: map[span]string{
				{'d', 0}: `hoy`, {'d', 1}: `ayer`, {'d', 2}: `anteayer`, {'w', 0}: `esta semana`,
				{'w', 1}: `semana pasada|última semana`, {'m', 0}: `este mes`, {'m', 1}: `mes pasado|último mes`,
				{'y', 0}: `este año`, {'y', 1}: `año pasado`, {'e', 1}: `fin de semana pasado|pasado fin de semana`,
			},
		},
		italian_: {
			months: numbered(`gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|
				novembre|dicembre`),
			weekdays: numbered(`lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica`),
			units:    numbered(`giorno giorni|settimana settimane|mese mesi|anno anni`),
			ago:      alternatives(`n u fa|gli ultimi n u`),
			said: map[span]string{
				{'d', 0}: `oggi`, {'d', 1}: `ieri`, {'d', 2}: `l'altro ieri|altro ieri`, {'w', 0}: `questa settimana`,
				{'w', 1}: `settimana scorsa|scorsa settimana`, {'m', 0}: `questo mese`,
				{'m', 1}: `mese scorso|scorso mese`,
				{'y', 0}: `quest'anno`, {'y', 1}: `anno scorso|l'anno scorso`, {'e', 1}: `scorso fine settimana`,
			},
		},
		portuguese_: {
			months: numbered(`janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|
				novembro|dezembro`),
			weekdays: numbered(`segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado|domingo`),
			units:    numbered(`dia dias|semana semanas|mês meses|ano anos`),
			ago:      alternatives(`há n u|n u atrás|os últimos n u`),
			said: map[span]string{
				{'d', 0}: `hoje`, {'d', 1}: `ontem`, {'d', 2}: `anteontem`, {'w', 0}: `esta semana`,
				{'w', 1}: `semana passada`,
				{'m', 0}: `este mês`, {'m', 1}: `mês passado`, {'y', 0}: `este ano`, {'y', 1}: `ano passado`,
				{'e', 1}: `fim de semana passado`,
			},
		},
		dutch_: {
			months: numbered(`januari|februari|maart|april|mei|juni|juli|augustus|
				september|oktober|november|december`),
			weekdays: numbered(`maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag`),
			units:    numbered(`dag dagen|week weken|maand maanden|jaar`),
			ago:      alternatives(`n u geleden|afgelopen n u`),
			said: map[span]string{
				{'d', 0}: `vandaag`, {'d', 1}: `gisteren`, {'d', 2}: `eergisteren`, {'w', 0}: `deze week`,
				{'w', 1}: `vorige week|afgelopen week`, {'m', 0}: `deze maand`,
				{'m', 1}: `vorige maand|afgelopen maand`,
				{'y', 0}: `dit jaar`, {'y', 1}: `vorig jaar`, {'e', 1}: `afgelopen weekend`,
			},
		},
		russian_: {
			months:   numbered(`январе|феврале|марте|апреле|мае|июне|июле|августе|сентябре|октябре|ноябре|декабре`),
			weekdays: numbered(`понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье`),
			units:    numbered(`день дня дней|неделю недели недель|месяц месяца месяцев|год года лет`),
			ago:      alternatives(`n u назад|последние n u`),
			said: map[span]string{
				{'d', 0}: `сегодня`, {'d', 1}: `вчера`, {'d', 2}: `позавчера`, {'w', 0}: `на этой неделе`,
				{'w', 1}: `на прошлой неделе|прошлую неделю`, {'m', 0}: `в этом месяце`, {'m', 1}: `в прошлом месяце`,
				{'y', 0}: `в этом году`, {'y', 1}: `в прошлом году`,
			},
		},
	}
	for in, c := range all {
		c.short = map[string]int{}
		for _, name := range slices.Sorted(maps.Keys(c.months)) {
			for _, letters := range []int{3, 4, len(name)} {
				c.short[name[:min(letters, len(name))]] = c.months[name]
			}
		}
		c.phrases = map[string]span{}
		for time, list := range c.said {
			for _, words := range alternatives(list) {
				c.phrases[strings.Join(words, " ")] = time
			}
		}
		all[in] = c
	}
	return all
})

// ambiguousMonths are names of months that mean something else, too: they count with a word of on before them or a
// number beside them.
var ambiguousMonths = WordSet(`may march mars mai marzo maio mei mayo august`)

// unspacedTimes are the phrases of scripts without spaces; a longer one stands before those that it begins with.
var unspacedTimes = []struct {
	said string
	span span
}{
	{"前天", span{'d', 2}}, {"昨天", span{'d', 1}}, {"今天", span{'d', 0}}, {"上周末", span{'e', 1}}, {"上个星期", span{'w', 1}},
	{"上星期", span{'w', 1}}, {"上周", span{'w', 1}}, {"这周", span{'w', 0}}, {"本周", span{'w', 0}},
	{"上个月", span{'m', 1}}, {"上月", span{'m', 1}}, {"这个月", span{'m', 0}}, {"本月", span{'m', 0}}, {"去年", span{'y', 1}},
	{"今年", span{'y', 0}},
	{"一昨日", span{'d', 2}}, {"昨日", span{'d', 1}}, {"今日", span{'d', 0}}, {"先週末", span{'e', 1}}, {"先週", span{'w', 1}},
	{"今週", span{'w', 0}}, {"先月", span{'m', 1}}, {"今月", span{'m', 0}}, {"昨年", span{'y', 1}},
	{"그저께", span{'d', 2}}, {"어제", span{'d', 1}}, {"오늘", span{'d', 0}}, {"지난주", span{'w', 1}}, {"지난 주", span{'w', 1}},
	{"이번 주", span{'w', 0}}, {"지난달", span{'m', 1}}, {"지난 달", span{'m', 1}}, {"작년", span{'y', 1}},
	{"เมื่อวานซืน", span{'d', 2}}, {"เมื่อวาน", span{'d', 1}}, {"วันนี้", span{'d', 0}},
	{"สัปดาห์ที่แล้ว", span{'w', 1}}, {"เดือนที่แล้ว", span{'m', 1}}, {"ปีที่แล้ว", span{'y', 1}},
}

// alternatives are what stands between the | of a list, as words.
func alternatives(list string) (all [][]string) {
	for words := range strings.SplitSeq(Fold(list), "|") {
		if split := strings.Fields(words); len(split) > 0 {
			all = append(all, split)
		}
	}
	return all
}

// numbered gives the words of each alternative its number, from 0 on.
func numbered(list string) map[string]int {
	numbers := map[string]int{}
	for i, words := range alternatives(list) {
		for _, w := range words {
			numbers[w] = i
		}
	}
	return numbers
}

const longestPhrase = 4 // words of a phrase
