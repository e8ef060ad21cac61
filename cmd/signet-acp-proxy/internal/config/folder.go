package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// locate finds the Signet folder.
func (c *Config) locate(f Flags, homeFolder func() (string, error)) error {
	c.SignetPath, c.sources["signet_path"] = f.SignetPath, "--signet-path"
	if c.SignetPath == "" {
		c.SignetPath, c.sources["signet_path"] = os.Getenv("SIGNET_PATH"), "SIGNET_PATH"
	}
	if c.SignetPath == "" {
		home, err := homeFolder()
		if err != nil {
			return ErrNoFolder
		}
		c.SignetPath, c.sources["signet_path"] = filepath.Join(home, ".agents"), "default"
	}
	path, err := filepath.Abs(c.SignetPath)
	if err != nil {
		return fmt.Errorf("finding the Signet folder: %w", err)
	}
	c.SignetPath = path
	return nil
}

// ErrNoFolder says that there is no folder for memories. The configuration that comes with it has memory off.
var ErrNoFolder = errors.New("no memory: there is no folder for it; set HOME or SIGNET_PATH")
