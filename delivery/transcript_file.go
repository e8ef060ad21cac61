package delivery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/files"
)

// transcriptDir is the folder in which transcripts are while they are delivered, in that of the database.
func transcriptDir(folder string) string { return filepath.Join(folder, "transcripts") }

func transcriptFile(folder string, debt int64) string {
	return filepath.Join(transcriptDir(folder), fmt.Sprintf("%d.txt", debt))
}

// RemoveTranscripts removes what a killed worker may have left of debts that are gone, beside the database in folder.
func RemoveTranscripts(folder string, debts []int64) error {
	names := make([]string, len(debts))
	for i, id := range debts {
		names[i] = transcriptFile(folder, id)
	}
	return files.Remove("a transcript", names...)
}

// writeTranscript makes a file, and its folder if need be.
func writeTranscript(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func (w *Worker) removeTranscript(name string) {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		w.Log.Warn().Err(err).Msg("removing a transcript")
	}
}

// tidyTranscripts removes what killed workers have left. Nothing is being delivered meanwhile: we hold the lock.
func (w *Worker) tidyTranscripts() {
	left, _ := filepath.Glob(filepath.Join(transcriptDir(w.Folder), "*.txt"))
	for _, name := range left {
		w.removeTranscript(name)
	}
}
