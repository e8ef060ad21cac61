package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// leastSpace is what a session may need, in bytes: SQLite's log and some turns.
const leastSpace = 1 << 20

// space checks that the folder of the database can be written, by writing a file.
func (e *examination) space() []Finding {
	const check = "space"
	if e.c.DB == "" { // nobody has named a folder
		return nil
	}
	dir := filepath.Dir(e.c.DB)
	f, err := os.CreateTemp(dir, ".doctor-*")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // made by the first session
	}
	if err == nil {
		_, err = f.Write(make([]byte, leastSpace))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return []Finding{{check, Problem, fmt.Sprintf("%s takes nothing more: %v", dir, err),
			"free some space, or move the folder: SIGNET_PATH, --db"}}
	}
	return nil
}
