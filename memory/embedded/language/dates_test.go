package language

import (
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
)

// Seen from a Wednesday.
var now = time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)

func TestFindTime(t *testing.T) {
	for text, want := range map[string]string{
		"What did we decide on 2026-02-03?":                   "2026-02-03 1",
		"What happened on 3 February?":                        "2026-02-03 1",
		"and on February 3rd, 2025?":                          "2025-02-03 1",
		"Am 03.02.2026 ging etwas schief, was?":               "2026-02-03 1",
		"what changed yesterday":                              "2026-03-17 1",
		"the day before yesterday we talked":                  "2026-03-16 1",
		"What did we do last weekend?":                        "2026-03-14 2",
		"Cosa facciamo oggi?":                                 "2026-03-18 1",
		"who asked in Feb":                                    "",
		"who asked on Feb 3?":                                 "2026-02-03 1",
		"What did we do last week?":                           "2026-03-09 7",
		"what did I ask two weeks ago":                        "2026-03-01 7",
		"what did I ask 3 days ago":                           "2026-03-15 1",
		"everything of the last 3 days":                       "2026-03-15 4",
		"what broke on Friday?":                               "2026-03-13 1",
		"In March we chose a queue, which?":                   "2026-03-01 31",
		"what did we ship in December":                        "2025-12-01 31",
		"which incidents were there last month":               "2026-02-01 28",
		"what did we do last year":                            "2025-01-01 365",
		"Was haben wir letzte Woche gemacht?":                 "2026-03-09 7",
		"Was war gestern mit dem Server?":                     "2026-03-17 1",
		"Was haben wir vor zwei Wochen besprochen?":           "2026-03-01 7",
		"Qu'est-ce que nous avons fait la semaine dernière ?": "2026-03-09 7",
		"Qu'avons-nous dit il y a 3 jours ?":                  "2026-03-15 1",
		"¿Qué hicimos la semana pasada?":                      "2026-03-09 7",
		"¿Qué decidimos hace dos días?":                       "2026-03-16 1",
		"Che cosa abbiamo fatto la settimana scorsa?":         "2026-03-09 7",
		"O que fizemos na semana passada?":                    "2026-03-09 7",
		"Wat hebben we vorige week gedaan?":                   "2026-03-09 7",
		"Что мы делали вчера?":                                "2026-03-17 1",
		"我们上周做了什么？":                                           "2026-03-09 7",
		"我们二月做了什么":                                            "2026-02-01 28",
		"昨天决定了什么":                                             "2026-03-17 1",
		"2026年2月3日发生了什么":                                      "2026-02-03 1",
		"先週何をしましたか":                                           "2026-03-09 7",
		"어제 무엇을 했나요?":                                         "2026-03-17 1",
		"May I commit a lock file?":                           "",
		"Which march should the parade play?":                 "",
		"Ist der Fehler hier bekannt?":                        "",
		"what is MaxConns in pool.go":                         "",
		"release 12.3.2 is broken":                            "",
		"":                                                    "",
		"on 3/12/2025 we met":                                 "2025-03-12 1",
		"on 13/12/2025":                                       "2025-12-13 1",
		"on 3/12/25 and 3/1200/2025":                          "",
		"the 3 of February 2025":                              "2025-02-03 1",
		"el 30 de diciembre de 2024":                          "2024-12-30 1",
		"in May 2025":                                         "2025-05-01 31",
		"on 31 February":                                      "2026-02-01 28",
		"on 18 March":                                         "2026-03-18 1",
		"on 19 March":                                         "2025-03-19 1",
		"on 1900-01-01":                                       "",
		"on 1901-01-01":                                       "1901-01-01 1",
		"1000 days ago":                                       "",
		"0 days ago":                                          "",
		"3 months ago":                                        "2025-12-03 31",
		"on Wednesday":                                        "2026-03-11 1",
		"两周前":                                                 "2026-03-01 7",
		"3日前":                                                 "2026-03-15 1",
		"5년 전":                                                "2021-01-01 365",
		"12月":                                                 "2025-12-01 31",
		"1月":                                                  "2026-01-01 31",
		"十二月5日":                                               "2025-12-05 1",
		"0月 13月":                                              "",
		"\u0301 on 3 May":                                     "2025-05-03 1",
	} {
		r, rest, ok := FindTime(text, now)
		got := ""
		if ok {
			got = r.From.Format("2006-01-02") + " " + time.Duration(r.Days()).String()
			got = got[:len(got)-2]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if !ok && rest != text {
			t.Errorf("%q became %q", text, rest)
		}
	}
}

func FuzzFindTime(f *testing.F) {
	f.Add("on 31.02.2026, in May 9999, 99 weeks ago")
	f.Add("一年前 12月 上周 \xff")
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, _, ok := FindTime(text, now); ok && !r.From.Before(r.To) {
			t.Errorf("%q: %v", text, r)
		}
	})
}
