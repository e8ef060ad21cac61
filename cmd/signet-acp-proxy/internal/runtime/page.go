package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

// PageFile is where view writes the page by default.
func PageFile(c *config.Config) string { return filepath.Join(c.SignetPath, "acp", "view.html") }

// RemovePage removes that page, which may show what was forgotten since. A page that a person had written elsewhere
// stays.
func RemovePage(c *config.Config) error {
	if err := os.Remove(PageFile(c)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the page that view wrote could not be removed: %w", err)
	}
	return nil
}
