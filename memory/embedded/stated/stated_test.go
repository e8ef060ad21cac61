package stated

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// What a sentence states; "" where it states nothing that a later session needs.
func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"Never commit to main without a green build.":                      Rule,
		"never commit to main please":                                      Rule,
		"From now on write the tests before the code.":                     Rule,
		"When touching the ledger, always run the migration twice.":        Rule,
		"Don't ever push to the release branch (e.g. while it is frozen).": Rule,
		"The seeds must never be edited.":                                  Rule,
		"You shouldn't edit generated files.":                              Rule,
		"I don’t want you to touch the lockfile.":                          Rule,
		"Add a rule that migrations are reversible.":                       Rule,
		"Schreibe nie direkt in die Produktionsdatenbank.":                 Rule,
		"Bitte immer zuerst die Migration testen.":                         Rule,
		"Ne modifie jamais les fichiers générés.":                          Rule,
		"Nunca modifiques los ficheros generados.":                         Rule,
		"Non modificare mai più i file generati.":                          Rule,
		"A partir de agora escreva primeiro os testes.":                    Rule,
		"Voortaan eerst de tests schrijven.":                               Rule,
		"Никогда не меняй сгенерированные файлы.":                          Rule,
		"以后不要再修改生成的文件。":                                                    Rule,
		"I prefer tabs over spaces in Go.":                                 Preference,
		"Ich bevorzuge kurze Antworten ohne Einleitung.":                   Preference,
		"我更喜欢简短的回答，不要寒暄。":                                                  Preference,
		"I prefer the layout of cmd/main.go.":                              "",
		"Please remember that the demo server resets every night at 3.":    Fact,
		"Remember to never push to the main branch.":                       Rule,
		"Note that as a rule, we must keep the commands free of logic.":    Rule,
		"We decided to drop IE11 support because nobody pays for it.":      Decision,
		"lets store the sessions in sqlite":                                Decision,
		"ok, let's go with the second layout":                              Decision,
		"use pnpm instead of npm for the workspace":                        Rule,
		"no, keep the old table until the audit":                           Decision,
		"We don't need the legacy endpoint any longer.":                    Decision,
		"Instead of a cron job, use the queue.":                            Decision,
		"Nehmen wir die zweite Variante mit dem Cache.":                    Decision,
		"Nous avons décidé de garder PostgreSQL pour la facturation.":      Decision,
		"Usemos la segunda variante con la caché.":                         Decision,
		"Andiamo con la seconda variante della cache.":                     Decision,
		"Vamos manter a tabela antiga na fatura.":                          Decision,
		"We houden de oude tabel voor de facturen.":                        Decision,
		"Оставим старую таблицу для счетов.":                               Decision,
		"why are you editing files in the vendor folder?":                  "",
		"you edited the vendor folder, not the module":                     "",
		"Make sure to pull the latest schema from upstream.":               "",
		"do all tests pass now":                                            "",
		"ok but now we have no migration 26":                               "",
		"The heron response never came through.":                           "",
		"The build always fails on Fridays.":                               "",
		"Der Server antwortet nie auf den Port.":                           "",
		"Le serveur ne répond jamais sur le port.":                         "",
		"Don't write any code yet, show me the plan first.":                "",
		"Never assume that customers want their invoices by mail.":         "",
		"2026-04-01 10:11:12 error: the field must never be empty":         "",
		"throw new TypeError('status must be open or closed')":             "",
		"For example, one should always buy fresh lemons.":                 "",
		"It must be due to the proxy that we introduced.":                  "",
		"ok, let us store the sessions in sqlite":                          Decision,
		"us three store the sessions in sqlite":                            "",
		"let them store the sessions in sqlite":                            "",
		"let's instead read the invoices":                                  Decision,
		"let's just start with the parser tests":                           "",
		"let's make sure the parser tests pass":                            "",
		"let's make the parser tests strict":                               Decision,
		"let's go back to the cron job":                                    Decision,
		"let's go through the list of invoices":                            "",
		"let's keep looking at the parser tests":                           "",
		"let's keep the parser tests apart":                                Decision,
		"no, we have the error in the parser":                              "",
		"no, we should have the error in the parser":                       Decision,
		"no, thanks":                                           "",
		"nope certainly, keep it in the parser":                "",
		"Take the queue rather than the cron job":              Decision,
		"Rather than a cron job we saw a queue.":               "",
		"the invoices should be in one folder":                 Decision,
		"if the invoices should be late, tell me":              "",
		"Customers should be told of late invoices.":           "",
		"Our customers should be told of late invoices.":       Decision,
		"Our customers must never be told of late invoices.":   Decision,
		"Their customers must never be told of late invoices.": "",
		"you forgot the folder of invoices":                    "",
		"did you forget the folder of invoices?":               "",
		"you still want the folder of invoices?":               "",
		"The worker always needed two invoices.":               "",
		"The worker always waiting for invoices.":              "",
		"We can always process two invoices.":                  Rule,
		"We can always red two invoices.":                      Rule,
		"The worker will never saw two invoices.":              "",
		"Im Ordner der Server bitte nie Rechnungen löschen.":   Rule,
		"Im Ordner der Server nie Rechnungen löschen.":         Rule,
		"Der nie Rechnungen bekam, der Server":                 "",
		"Он никогда не меняет файлы":                           "",
		"Файлы никогда не меняй вручную":                       Rule,
		"never": "",
		"Should we always squash the commits of a branch?":                                       "",
		"lets start with the parser tests":                                                       "",
		"let's create a new git branch for the parser":                                           "",
		"let's implement this parser now":                                                        "",
		"let's implement the parser in C":                                                        Decision,
		"let's move on to the next milestone":                                                    "",
		"Fix the error in parser.go.":                                                            "",
		"Do we prefer tabs?":                                                                     "",
		"Wow! Amazing, congratulations!":                                                         "",
		"I think we should have seen an error in the log here.":                                  "",
		"you edited the vendor folder, not the module" + strings.Repeat(" that we spoke of", 10): "",
		"are you editing the vendor folder or the module?":                                       "",
		"which of these two layouts should be the default one for the invoices?":                 "",
	} {
		var got string
		for _, s := range In(text) {
			got += s.Kind
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, personal := range map[string]bool{
		"I prefer short answers.":              true,
		"I like what I know to come first.":    true,
		"I prefer the port eighty-eighty.":     true,
		"I prefer the port 8080 for it.":       false,
		"I prefer notes in docs/notes here.":   false,
		"I like answers sent to a@example.com": false,
		"I prefer the key_of_the_project.":     false,
		"I like what Project Heron does.":      false,
		"I prefer the heronDB for all of it.":  false,
		"I prefer [redacted:github] as token.": false,
	} {
		if s := In(text); len(s) != 1 || s[0].Personal != personal {
			t.Errorf("%q: %+v, want it told in other projects: %v", text, s, personal)
		}
	}
}

// The person's own words count, and nothing that is quoted or pasted.
func TestOwnWords(t *testing.T) {
	log := strings.Repeat("the worker must never sleep longer than that, said the log\n", 60)
	for text, want := range map[string][]string{
		"> never edit the seeds\nwhy?":                                          nil,
		"```\nnever edit the seeds\n```":                                        nil,
		"$ never edit the seeds":                                                nil,
		"func f() {\n\t// You must never edit the seeds.\n}\n/* Always ask. */": nil,
		"Never edit the seeds.\n\n" + log + "\n\nAlways ask the owner first.":   {"Never edit the seeds."},
		"Never edit the seeds. Never edit the seeds.":                           {"Never edit the seeds."},
	} {
		var got []string
		for _, s := range In(text) {
			if !strings.Contains(s.Text, "said the log") {
				got = append(got, s.Text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40q: %s", text, diff)
		}
	}
}

func TestDecided(t *testing.T) {
	for _, c := range []struct{ before, prompt, want string }{
		{"Should we keep the old table?", "yes", "asked “Should we keep the old table?”: yes"},
		{"Which store: SQLite or Postgres?", "the first", "asked “Which store: SQLite or Postgres?”: the first"},
		{"Sollen wir die alte Tabelle behalten?", "ja, bis März", "asked “Sollen wir die alte Tabelle behalten?”: ja, bis März"},
		{"Would you like me to go on?", "yes", ""},
		{"Shall I commit these changes?", "yes, but only the tests", "asked “Shall I commit these changes?”: yes, but only the tests"},
		{"Should we keep the old table? It is big.", "yes", "asked “Should we keep the old table?”: yes"},
		{"Should we keep the old table?\n\n" + strings.Repeat("It is so big. ", 90), "yes", ""},
		{"Should we keep the old table?", "is it big", ""},
		{"Should we keep the old table?", "yes, is it big?", ""},
		{"Should we keep the old table?", "yes" + strings.Repeat(", yes", 40), ""},
		{"Should we keep the old table?", "the old one", ""},
		{"Which store: SQLite or Postgres?", "let's see", ""},
		{"Which store: SQLite or Postgres?", "we saw", ""},
		{"Which store: SQLite or Postgres?", "start", ""},
		{"Which store: SQLite or Postgres?", "sqlite in a file of its own please", "asked “Which store: SQLite or Postgres?”: " +
			"sqlite in a file of its own please"},
		{"Which store: SQLite or Postgres?", "sqlite in a file of its own please here", ""},
		{"Which store: SQLite or Postgres?", "sounds good, great", ""},
		{"Which store: SQLite or Postgres?", "no, keep Postgres.", "no, keep Postgres."},
		{"Which store: SQLite or Postgres?", "We decided: Postgres for all.", "We decided: Postgres for all."},
		{"Which store: SQLite or Postgres?", "don't use Postgres for it", "asked “Which store: SQLite or Postgres?”: don't use Postgres for it"},
		{"Would you like me to go on?", "yes, and the tests", ""},
		{"Would you like me to go on?", "sure, but only the tests", ""},
		{"Should we keep the old table?", "what would you do?", ""},
		{"Should we keep the old table?", "ok, I've seen the error again", ""},
		{"- Option A: a queue\n- Option B: a cron job", "Let's go with option B please.",
			"Let's go with option B please. (option B: a cron job)"},
		{"", "Let's go with option B, but can you start the queue yourself?", "Let's go with option B"},
		{"", "why did you edit the vendor folder?", ""},
	} {
		if got := strings.Join(Decided(c.before, c.prompt), " | "); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.before, c.prompt, got, c.want)
		}
	}
}

// Of an answer count what was chosen over what, what it recommended if the user then agreed, and what was given up.
func TestSettled(t *testing.T) {
	for _, c := range []struct{ answer, reply, agreed, failed string }{
		{"I kept the old table rather than a new one. Never edit the seeds.", "", "I kept the old table rather than a new one.", ""},
		{"I kept the old table. I should have used one table instead of two.", "", "", ""},
		{"Let me see what I chose over the queue.\nI chose the queue instead of cron:", "", "", ""},
		{"I recommend the queue. The rest is cheap.", "yes, do it", "I recommend the queue.", ""},
		{"Recommendation: the queue.", "ok", "Recommendation: the queue.", ""},
		{"Each recommendation is better.", "ok", "", ""},
		{"I recommend the queue.", "why the queue?", "", ""},
		{"I recommend the queue.", "Sure?", "", ""},
		{"I reverted the queue. We had to roll back the migration.", "", "", "I reverted the queue.|We had to roll back the migration."},
		{"That approach did not work on Windows. If this approach doesn't work, tell me.", "", "", "That approach did not work on Windows."},
		{"The tests failed because of the port. Did that fix not work?", "", "", ""},
		{"Der zweite Versuch hat nicht funktioniert.", "", "", "Der zweite Versuch hat nicht funktioniert."},
		{strings.Repeat("I recommend the queue. ", 5), "yes", strings.Repeat("I recommend the queue.|", 2) + "I recommend the queue.", ""},
	} {
		agreed, failed := Settled(c.answer, c.reply)
		if strings.Join(agreed, "|") != c.agreed || strings.Join(failed, "|") != c.failed {
			t.Errorf("%q, %q: %q, %q", c.answer, c.reply, agreed, failed)
		}
	}
}

// A question that closes an answer is open; an offer to go on is none.
func TestQuestion(t *testing.T) {
	for answer, want := range map[string]string{
		"It is done. Which of the two ports do you want?": "Which of the two ports do you want?",
		"It is done. Would you like me to go on?":         "",
		"Is it done? It is.":                              "Is it done?",
		"It is done.":                                     "",
	} {
		if got := Question(answer); got != want {
			t.Errorf("%q: %q", answer, got)
		}
	}
	for prompt, want := range map[string]string{"still the same error. look": "still the same error.",
		"no, use the other one": "", "no": ""} {
		if got := StillFails(prompt); got != want {
			t.Errorf("%q: %q", prompt, got)
		}
	}
}

// A prompt states a few things, not a document's worth.
func TestMost(t *testing.T) {
	if found := In(strings.Repeat("Never edit the seeds of x1. ", 1) + "Never edit a2. Never edit a3. Never edit a4. Never edit a5. " +
		"Never edit a6. Never edit a7. Never edit a8. Never edit a9."); len(found) != most {
		t.Errorf("%d of a prompt", len(found))
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"why are you editing files in the vendor folder, not in the module?", "you're editing the vendor folder", true},
		{"You should not be editing files in the vendor folder.", "you edited the vendor folder file", true},
		{"Never edit the seeds.", "Never edit the fixtures.", false},
		{"Never commit to main.", "Always write the tests first.", false},
		{"kiln boat", "boat kiln", true},
		{"kiln glaze boat shed", "boat glaze kiln", true},
		{"kiln glaze boat shed", "kiln glaze boat house", true},
		{"kiln glaze boat shed attic", "kiln glaze boat house cellar", false},
	} {
		if got := Same(language.Terms(c.a), language.Terms(c.b)); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

func TestScopeOf(t *testing.T) {
	for text, want := range map[string]string{
		"In `frontend/` never use default exports.":       "in frontend/",
		"Always create a failing test when fixing a bug.": "when fixing a bug",
		"Never squash before a release.":                  "before a release",
		"Never edit the seeds.":                           "",
	} {
		if got := ScopeOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What was settled and taken back is not settled, and what is left to do is said.
func TestReverted(t *testing.T) {
	decided := []string{"Let's use Redis for the session cache.", "We keep the old invoice table until March.",
		"Actually, let's go back to memcached for the session cache.", "We keep the cache small.",
		"Use pnpm for the web folder.", "Use pnpm for the web folder instead of npm."}
	gone := Reverted(decided)
	if len(gone) != 1 || gone[decided[0]] != decided[2] {
		t.Errorf("taken back: %v", gone)
	}
}

func TestOpen(t *testing.T) {
	for result, want := range map[string]string{
		"Done: the port is 7443.\n\nNext steps:\n- document it\n- open the firewall\n- tell Robin": "document it; open the firewall",
		"All pass. One test still fails on Windows.":                                               "One test still fails on Windows.",
		"Drei Tests laufen. Die Doku steht noch aus.":                                              "Die Doku steht noch aus.",
		"All of it is done.": "",
		"Nothing else to do. No further steps remain to do. What is still open?": "",
	} {
		if got := Open(result); got != want {
			t.Errorf("%q: %q, want %q", result, got, want)
		}
	}
	if got := Gist("# Summary\n\nThe proxy listens on port **7443** now.\n\n```\nlisten 7443\n```"); got != "The proxy listens on port 7443 now." {
		t.Errorf("gist %q", got)
	}
}

func TestGoesOn(t *testing.T) {
	for prompt, want := range map[string]bool{
		"continue": true, "what is left to do in the ledger?": true, "Mach mit der Migration weiter": true,
		"reprends la migration": true, "¿qué falta?": true, "продолжай": true,
		"please review my last changes": false, "add a port to the config": false,
	} {
		if got := GoesOn(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func FuzzIn(f *testing.F) {
	for _, text := range []string{"Never edit the seeds.", "no, use the other one, but can you?", "1. the former\n2. both",
		"> quoted\n\xff```", "以后不要再", strings.Repeat("never\n\n", 400)} {
		f.Add("Which one, or both?", text)
	}
	f.Fuzz(func(t *testing.T, before, text string) {
		before, text = strings.ToValidUTF8(before, ""), strings.ToValidUTF8(text, "")
		for _, s := range In(text) {
			if s.Text == "" || len(s.Text) > longest || !utf8.ValidString(s.Text) {
				t.Errorf("%+v", s)
			}
		}
		if got := Gist(before) + Open(before); !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		agreed, failed := Settled(before, text)
		for _, s := range slices.Concat(Decided(before, text), agreed, failed) {
			if s == "" || !utf8.ValidString(s) {
				t.Errorf("%q", s)
			}
		}
	})
}
