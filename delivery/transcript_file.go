package delivery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// transcripts is the folder in which transcripts are while they are delivered.
type transcripts struct {
	dir string
	log zerolog.Logger
}

// transcriptDir is the folder of transcripts in that of the database.
func transcriptDir(folder string) string { return filepath.Join(folder, "transcripts") }

func transcriptFile(dir string, debt int64) string {
	return filepath.Join(dir, fmt.Sprintf("%d.txt", debt))
}

// RemoveTranscripts removes what a killed worker may have left of debts that are gone, beside the database in folder.
func RemoveTranscripts(folder string, debts []int64) error {
	names := make([]string, len(debts))
	for i, id := range debts {
		names[i] = transcriptFile(transcriptDir(folder), id)
	}
	return files.Remove("a transcript", names...)
}

// write makes a file in the folder, and the folder if need be.
func (f transcripts) write(name, text string) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func (f transcripts) remove(name string) {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		f.log.Warn().Err(err).Msg("removing a transcript")
	}
}

// tidy removes what killed workers have left. Nothing is being delivered meanwhile: we hold the lock.
func (f transcripts) tidy() {
	left, _ := filepath.Glob(filepath.Join(f.dir, "*.txt"))
	for _, name := range left {
		f.remove(name)
	}
}
