package backfill

import (
	"context"
	"path/filepath"
)

// A Place is where harnesses keep what they write.
type Place struct {
	Home   string
	Getenv func(string) string // of the harnesses' own variables; nil is none
}

// env gives a folder that a variable names, or else one under Home.
func (p Place) env(name string, under ...string) string {
	if p.Getenv != nil {
		if dir := p.Getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return filepath.Join(append([]string{p.Home}, under...)...)
}

// A format is how a harness writes.
type format struct {
	agent string
	root  func(Place) string
	// is reports whether a file below root, by its path from there with slashes, is a conversation.
	is func(rel string) bool
	// read gives the conversations of a file.
	read func(ctx context.Context, p Place, path string, yield func(Conversation) error) error
}
