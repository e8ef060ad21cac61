// Package language knows words: how texts and questions are cut into them, their stems, which of them say nothing, what
// questions ask for, and which time they name. Text in, terms out: it knows no database.
//
// The terms of a text are what the index holds of it; the terms of a question are looked for there. Both are made by
// the same functions, so that they match: words in lower case without accents and endings (Snowball), identifiers as a
// whole and in parts (maxRetryCount: maxretrycount, max, retry, count), pairs of characters for the scripts that set no
// spaces. Stop words are neither kept nor looked for.
package language
