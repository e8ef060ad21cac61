package delivery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// orphanAge is when a transcript that no row names any more is removed, past the time that a hook may take to read it: its worker died between two steps.
const orphanAge = time.Hour

// errLedger marks an error of the database before the post.
var errLedger = errors.New("noting the post")

// A diskError is one of the disk before the post.
type diskError struct{ error }

// withFile posts a transcript that lies in a file meanwhile. The post is noted first, so that a worker that dies from here on leaves a doubt, not a loss, and
// the file is gone before anything else is noted.
func (w *Worker) withFile(ctx context.Context, d correlation.Delivery, p part, post func(file string) (Reply, error)) (Reply, error) {
	file := filepath.Join(w.o.Dir, fmt.Sprintf("%s-%d.txt", w.o.Process.ID(), d.ID))
	if err := w.o.Store.Attempt(ctx, d, p.post, file); err != nil {
		return Reply{}, fmt.Errorf("%w: %w", errLedger, err)
	}
	defer w.remove(file)
	if err := writeFile(file, p.text); err != nil {
		return Reply{}, diskError{fmt.Errorf("writing the transcript: %w", err)}
	}
	return post(file)
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (w *Worker) remove(file string) {
	if file == "" {
		return
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		w.o.Log.Warn().Err(err).Msg("removing a transcript")
	}
}

// tidy removes transcripts that dead workers left.
func (w *Worker) tidy(ctx context.Context) {
	entries, err := os.ReadDir(w.o.Dir)
	if err != nil {
		return
	}
	age := orphanAge + w.o.Hook.limit()
	for _, e := range entries {
		info, err := e.Info()
		if ctx.Err() != nil || err != nil || filepath.Ext(e.Name()) != ".txt" || w.o.Now().Sub(info.ModTime()) < age {
			continue
		}
		w.remove(filepath.Join(w.o.Dir, e.Name()))
	}
}
