package delivery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
)

// orphanAge is the age at which a transcript file without a row is removed, added to the time that a hook may take to
// read it: its worker was killed between two steps.
const orphanAge = time.Hour

// transcripts is the folder in which transcripts are while they are delivered.
type transcripts struct {
	dir string
	log zerolog.Logger
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
	if name == "" {
		return
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		f.log.Warn().Err(err).Msg("removing a transcript")
	}
}

// tidy removes transcripts from before a time, which killed workers have left.
func (f transcripts) tidy(ctx context.Context, before time.Time) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if ctx.Err() != nil || err != nil || filepath.Ext(e.Name()) != ".txt" || info.ModTime().After(before) {
			continue
		}
		f.remove(filepath.Join(f.dir, e.Name()))
	}
}
