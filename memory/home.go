package memory

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

func home() string {
	dir, err := Home()
	if err != nil {
		return ""
	}
	return resolved(dir)
}

// Home returns the user's home folder: that of the environment, else the one that the system's user database names.
// Some clients start agents without HOME (docs/facts/clients.md, "Clients").
func Home() (string, error) { return homeOf(os.UserHomeDir, user.Current) }

// HomeShort abbreviates the home folder in a path to ~.
func HomeShort(path string) string {
	home, err := Home()
	rest, below := strings.CutPrefix(path, home)
	if err != nil || home == "" || !below || rest != "" && rest[0] != filepath.Separator {
		return path
	}
	return "~" + rest
}

func homeOf(environment func() (string, error), database func() (*user.User, error)) (string, error) {
	dir, err := environment()
	if err == nil {
		return dir, nil
	}
	us, err := database()
	if err == nil && us.HomeDir == "" {
		err = errors.New("the system's user database names no home folder")
	}
	if err != nil {
		return "", fmt.Errorf("finding the home folder: %w", err)
	}
	return us.HomeDir, nil
}
