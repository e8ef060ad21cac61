package main

import (
	"fmt"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// projectOf returns the project of a folder that a person names, "" for none.
func projectOf(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	return memory.Project(path), nil
}
