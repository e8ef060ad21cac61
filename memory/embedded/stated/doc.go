// Package stated finds what a person states in a prompt: rules for the agent, preferences, decisions, wishes. It knows
// words only: text in, sentences out. The phrases are in phrases.go, by language.
package stated
