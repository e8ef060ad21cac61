package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Folder returns the absolute path of a folder that a person names; in --cwd=~/x the shell leaves the ~ to us.
func Folder(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~"+string(filepath.Separator)); ok || name == "~" {
		home, err := memory.Home()
		if err != nil {
			return "", fmt.Errorf("finding the home folder: %w", err)
		}
		name = filepath.Join(home, rest)
	}
	return filepath.Abs(name)
}
