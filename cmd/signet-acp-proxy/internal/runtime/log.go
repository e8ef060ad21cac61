package runtime

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

const maxLogSize = 4 << 20 // bytes; then the file is renamed to .old

// A Log is the log. Its file is opened at the first write, so that a start does not wait for it.
type Log struct {
	path  string
	level zerolog.Level
	std   term.Streams

	mu     sync.Mutex // guards what follows
	file   *os.File
	size   int64
	failed bool
}

// NewLog returns the configured log, in which every panic of guarded work in this process is from now on.
func NewLog(c *config.Config, std term.Streams) *Log {
	level, err := zerolog.ParseLevel(c.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	l := &Log{path: logPath(c), level: level, std: std}
	l.hearPanics(c)
	return l
}

// Logger returns a logger that writes to it. What is logged are ids, sizes and durations, never what anybody said.
func (l *Log) Logger() zerolog.Logger {
	if l.path == "-" {
		return zerolog.New(l.std.Err).Level(l.level).With().Timestamp().Logger()
	}
	return zerolog.New(l).Level(l.level).With().Timestamp().Int("pid", os.Getpid()).Logger()
}

func (l *Log) warn(err error) *zerolog.Event {
	log := l.Logger()
	return log.Warn().Err(err)
}

// Write implements io.Writer. If the log cannot be written, it tells the person once and drops everything.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed {
		return len(b), nil
	}
	err := l.openLocked(int64(len(b)))
	if err == nil {
		_, err = l.file.Write(b)
		l.size += int64(len(b))
	}
	if err != nil {
		l.failed = true
		l.std.Say("no log: %v", err)
	}
	return len(b), nil
}

// openLocked opens the file, and replaces it if n more bytes do not fit.
func (l *Log) openLocked(n int64) error {
	if l.file != nil && l.size+n <= maxLogSize {
		return nil
	}
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(l.path); err == nil && info.Size()+n > maxLogSize {
		if err := os.Rename(l.path, l.path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.size = file, info.Size()
	return nil
}

// Close closes the file.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
