// Package language knows words: how texts and questions are made of them, their stems, which of them say nothing,
// what questions ask for, and which time they name. Text in, terms out: it knows no database.
//
// A text's terms are what the index holds of it; a question's are looked for there. Both come from the same
// functions, so that what is asked is what is kept: words in lower case without accents and endings (Snowball),
// identifiers as a whole and in their parts (maxRetryCount: maxretrycount, max, retry, count), pairs of characters
// for the scripts that set no spaces. Words that say nothing in a language are neither kept nor asked.
package language
