package language

import (
	"strings"
	"sync"
)

// A calendar is how times are said in a language. Alternatives are separated by |; words are folded when the tables are
// made.
type calendar struct {
	months, weekdays string // from January and from Monday on
	units            string // day, week, month, year
	ago              string // N stands for a number and U for a unit
	on               string // words before a month's name that make it a time, for names in ambiguousMonths
	phrases          map[span]string
}

// A span is a time as seen from today: how many units back it is. It is one unit long.
type span struct {
	unit byte // d, w, m, y for day, week, month, year; e for weekend
	back int
}

var calendars = map[set]calendar{
	english_: {
		months:   `january|february|march|april|may|june|july|august|september|october|november|december`,
		weekdays: `monday|tuesday|wednesday|thursday|friday|saturday|sunday`,
		units:    `day days|week weeks|month months|year years`,
		ago:      `N U ago|N U back|last N U|past N U|previous N U`,
		on:       `in of since during last this until early late mid by from before after`,
		phrases: map[span]string{
			{'d', 0}: `today|this morning|this afternoon`, {'d', 1}: `yesterday|last night`,
			{'d', 2}: `day before yesterday|the day before yesterday`,
			{'w', 0}: `this week`, {'w', 1}: `last week|previous week|past week`, {'w', 2}: `week before last`,
			{'m', 0}: `this month`, {'m', 1}: `last month|previous month|past month`, {'y', 0}: `this year`,
			{'y', 1}: `last year|previous year`, {'e', 1}: `last weekend|the weekend`,
		},
	},
	german_: {
		months:   `januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember`,
		weekdays: `montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag`,
		units:    `tag tage tagen|woche wochen|monat monate monaten|jahr jahre jahren`,
		ago:      `vor N U|letzten N U|die letzten N U`,
		phrases: map[span]string{
			{'d', 0}: `heute`, {'d', 1}: `gestern`, {'d', 2}: `vorgestern`, {'w', 0}: `diese woche|dieser woche`,
			{'w', 1}: `letzte woche|letzter woche|vorige woche|voriger woche|vergangene woche|letzten woche`,
			{'m', 0}: `diesen monat|diesem monat`, {'m', 1}: `letzten monat|vorigen monat|letztem monat`,
			{'y', 0}: `dieses jahr|diesem jahr`, {'y', 1}: `letztes jahr|voriges jahr|letzten jahr`,
			{'e', 1}: `letztes wochenende|am wochenende`,
		},
	},
	french_: {
		months:   `janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre`,
		weekdays: `lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche`,
		units:    `jour jours|semaine semaines|mois|an ans année années`,
		ago:      `il y a N U|les N derniers U|les N dernières U`,
		phrases: map[span]string{
			{'d', 0}: `aujourd'hui`, {'d', 1}: `hier`, {'d', 2}: `avant-hier`, {'w', 0}: `cette semaine`,
			{'w', 1}: `semaine dernière|semaine passée|dernière semaine`,
			{'m', 0}: `ce mois-ci`, {'m', 1}: `mois dernier|mois passé`, {'y', 0}: `cette année`,
			{'y', 1}: `année dernière|an dernier`, {'e', 1}: `week-end dernier|ce week-end`,
		},
	},
	spanish_: {
		months:   `enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre`,
		weekdays: `lunes|martes|miércoles|jueves|viernes|sábado|domingo`,
		units:    `día días|semana semanas|mes meses|año años`,
		ago:      `hace N U|los últimos N U|las últimas N U`,
		phrases: map[span]string{
			{'d', 0}: `hoy`, {'d', 1}: `ayer`, {'d', 2}: `anteayer`, {'w', 0}: `esta semana`,
			{'w', 1}: `semana pasada|última semana`, {'m', 0}: `este mes`, {'m', 1}: `mes pasado|último mes`,
			{'y', 0}: `este año`, {'y', 1}: `año pasado`, {'e', 1}: `fin de semana pasado|pasado fin de semana`,
		},
	},
	italian_: {
		months:   `gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre`,
		weekdays: `lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica`,
		units:    `giorno giorni|settimana settimane|mese mesi|anno anni`,
		ago:      `N U fa|gli ultimi N U`,
		phrases: map[span]string{
			{'d', 0}: `oggi`, {'d', 1}: `ieri`, {'d', 2}: `l'altro ieri|altro ieri`, {'w', 0}: `questa settimana`,
			{'w', 1}: `settimana scorsa|scorsa settimana`, {'m', 0}: `questo mese`, {'m', 1}: `mese scorso|scorso mese`,
			{'y', 0}: `quest'anno`, {'y', 1}: `anno scorso|l'anno scorso`, {'e', 1}: `scorso fine settimana`,
		},
	},
	portuguese_: {
		months:   `janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro`,
		weekdays: `segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado|domingo`,
		units:    `dia dias|semana semanas|mês meses|ano anos`,
		ago:      `há N U|N U atrás|os últimos N U`,
		phrases: map[span]string{
			{'d', 0}: `hoje`, {'d', 1}: `ontem`, {'d', 2}: `anteontem`, {'w', 0}: `esta semana`,
			{'w', 1}: `semana passada`,
			{'m', 0}: `este mês`, {'m', 1}: `mês passado`, {'y', 0}: `este ano`, {'y', 1}: `ano passado`,
			{'e', 1}: `fim de semana passado`,
		},
	},
	dutch_: {
		months:   `januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december`,
		weekdays: `maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag`,
		units:    `dag dagen|week weken|maand maanden|jaar`,
		ago:      `N U geleden|afgelopen N U`,
		phrases: map[span]string{
			{'d', 0}: `vandaag`, {'d', 1}: `gisteren`, {'d', 2}: `eergisteren`, {'w', 0}: `deze week`,
			{'w', 1}: `vorige week|afgelopen week`, {'m', 0}: `deze maand`, {'m', 1}: `vorige maand|afgelopen maand`,
			{'y', 0}: `dit jaar`, {'y', 1}: `vorig jaar`, {'e', 1}: `afgelopen weekend`,
		},
	},
	russian_: {
		months:   `январе|феврале|марте|апреле|мае|июне|июле|августе|сентябре|октябре|ноябре|декабре`,
		weekdays: `понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье`,
		units:    `день дня дней|неделю недели недель|месяц месяца месяцев|год года лет`,
		ago:      `N U назад|последние N U`,
		phrases: map[span]string{
			{'d', 0}: `сегодня`, {'d', 1}: `вчера`, {'d', 2}: `позавчера`, {'w', 0}: `на этой неделе`,
			{'w', 1}: `на прошлой неделе|прошлую неделю`, {'m', 0}: `в этом месяце`, {'m', 1}: `в прошлом месяце`,
			{'y', 0}: `в этом году`, {'y', 1}: `в прошлом году`,
		},
	},
}

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

// A timeTable is a calendar in the form in which it is searched.
type timeTable struct {
	months, weekdays map[string]int
	units            map[string]byte
	on               Set
	ago              [][]string
	phrases          []spanPhrase // longest first
}

type spanPhrase struct {
	words []string
	span  span
}

var timeTables = sync.OnceValue(func() map[set]timeTable {
	tables := map[set]timeTable{}
	for lang, c := range calendars {
		t := timeTable{months: map[string]int{}, weekdays: map[string]int{},
			units: map[string]byte{}, on: SetOf(strings.Fields(c.on))}
		for i, m := range strings.Split(c.months, "|") {
			t.months[Fold(m)] = i + 1
		}
		for i, d := range strings.Split(c.weekdays, "|") {
			t.weekdays[Fold(d)] = (i + 1) % 7 // as time.Weekday
		}
		for i, unit := range strings.Split(c.units, "|") {
			for u := range strings.FieldsSeq(unit) {
				t.units[Fold(u)] = "dwmy"[i]
			}
		}
		for _, a := range strings.Split(c.ago, "|") {
			var words []string
			for w := range strings.FieldsSeq(a) {
				if w != "N" && w != "U" {
					w = Fold(w)
				}
				words = append(words, w)
			}
			t.ago = append(t.ago, words)
		}
		for s, list := range c.phrases {
			for p := range strings.SplitSeq(list, "|") {
				t.phrases = append(t.phrases, spanPhrase{foldedWords(Words(p)), s})
			}
		}
		tables[lang] = t
	}
	return tables
})

// isoDay reports whether a word begins with a date such as 2026-03-12.
func isoDay(w string) bool {
	return len(w) >= 10 && w[4] == '-' && w[7] == '-' && digits(w[:4]) && digits(w[5:7]) && digits(w[8:10])
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
