package runtime

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const maxLogSize = 4 << 20 // bytes; then the file is renamed to .old

// A logFile is the log. Its file is opened at the first write, so that a start does not wait for it. What is logged are
// ids, sizes and durations, never what anybody said.
type logFile struct {
	zerolog.Logger // writes to it
	path           string
	std            term.Streams

	mu     sync.Mutex // guards what follows
	file   *os.File
	size   int64
	failed bool
}

// NewLog returns the configured log, in which every panic of guarded work in this process is from now on.
func NewLog(c *config.Config, std term.Streams) *logFile {
	level, err := zerolog.ParseLevel(c.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	l := &logFile{path: logPath(c), std: std}
	l.Logger = zerolog.New(l).Level(level).With().Timestamp().Int("pid", os.Getpid()).Logger()
	if l.path == "-" {
		l.Logger = zerolog.New(std.Err).Level(level).With().Timestamp().Logger()
	}
	l.hearPanics(c)
	return l
}

// repeated warns of an error of work that is done again soon: not where ctx has ended, or the database was busy.
func (l *logFile) repeated(ctx context.Context, doing string, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrBusy) {
		l.Warn().Err(err).Msg(doing)
	}
}

// Write implements io.Writer. If the log cannot be written, it tells the person once and drops everything.
func (l *logFile) Write(b []byte) (int, error) {
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
func (l *logFile) openLocked(n int64) error {
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
func (l *logFile) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

const (
	maxPanics = 64 << 10               // bytes of the file of panics; then it is begun anew
	sayLimit  = 100 * time.Millisecond // for a stderr that nobody reads
)

// A notedPanic is a line of the file of panics, which doctor reads.
type notedPanic struct {
	At      time.Time `json:"at"`
	Version string    `json:"version"`
	Work    string    `json:"work"`
	What    string    `json:"what"`
	Where   string    `json:"where"`
}

// hearPanics has the panics of this process logged, noted for doctor, and said once.
func (l *logFile) hearPanics(c *config.Config) {
	var count atomic.Int64
	guard.Report(func(p guard.Panic) {
		n := count.Add(1)
		l.Error().Str("work", p.Work).Str("what", p.What).Str("where", p.Where).Int64("count", n).
			Strs("stack", p.Stack).Msg("a mistake of ours ended a piece of work")
		if err := note(c, notedPanic{time.Now(), Version, p.Work, p.What, p.Where}); err != nil {
			l.Warn().Err(err).Msg("noting a panic")
		}
		if n > 1 {
			return
		}
		said := make(chan struct{})
		guard.Go("saying so", func() {
			defer close(said)
			l.std.Say("a bug in this program (%s, at %s) stopped a piece of memory work; everything else continues "+
				"(signet-acp-proxy doctor says more)", p.Work, p.Where)
		})
		select {
		case <-said:
		case <-time.After(sayLimit):
		}
	})
}

// note adds a line to the file of panics.
func note(c *config.Config, p notedPanic) error {
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	how := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	if info, err := os.Stat(panicsFile(c)); err == nil && info.Size() > maxPanics {
		how |= os.O_TRUNC
	}
	f, err := os.OpenFile(panicsFile(c), how, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// NotedPanics returns the panics of this version since a time, the newest last, and the path of the log.
func NotedPanics(c *config.Config, since time.Time) (noted []notedPanic, log string, err error) {
	f, err := os.Open(panicsFile(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var p notedPanic
		if json.Unmarshal(lines.Bytes(), &p) == nil && p.Version == Version && !p.At.Before(since) {
			noted = append(noted, p)
		}
	}
	return noted, logPath(c), lines.Err()
}

// logPath is the path of the log; "-" is stderr.
func logPath(c *config.Config) string {
	if c.LogFile != "" {
		return c.LogFile
	}
	return filepath.Join(c.SignetPath, "acp", "log", "proxy.log")
}
