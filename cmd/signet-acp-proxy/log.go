package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"
)

const maxLogSize = 4 << 20 // then the file becomes the .old one

// A logFile is the log, opened when something is first written to it: a start waits for no file.
type logFile struct {
	path  string
	level zerolog.Level
	std   stdio

	mu     sync.Mutex // guards what follows
	file   *os.File
	size   int64
	failed bool
}

func newLogFile(c *Config, std stdio) *logFile {
	level, err := zerolog.ParseLevel(c.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	path := c.LogFile
	if path == "" {
		path = filepath.Join(c.SignetPath, "acp", "log", "proxy.log")
	}
	return &logFile{path: path, level: level, std: std}
}

// logger gives a logger into the file. It logs ids, sizes and durations, never what anybody said.
func (l *logFile) logger() zerolog.Logger {
	if l.path == "-" {
		return zerolog.New(l.std.err).Level(l.level).With().Timestamp().Logger()
	}
	return zerolog.New(l).Level(l.level).With().Timestamp().Int("pid", os.Getpid()).Logger()
}

// Write implements io.Writer. A log that cannot be written is given up with one word to the person.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed {
		return len(b), nil
	}
	if err := l.open(int64(len(b))); err != nil {
		l.failed = true
		l.std.say("no log: %v", err)
		return len(b), nil
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	return n, err
}

// open makes sure of a file with room for n bytes. The lock is held.
func (l *logFile) open(n int64) error {
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

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
