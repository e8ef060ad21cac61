package runtime

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	maxPanics = 64 << 10               // bytes of the file of panics; then it is begun anew
	sayLimit  = 100 * time.Millisecond // for a stderr that nobody reads
)

// A NotedPanic is a line of the file of panics, which doctor reads.
type NotedPanic struct {
	At      time.Time `json:"at"`
	Version string    `json:"version"`
	Work    string    `json:"work"`
	What    string    `json:"what"`
	Where   string    `json:"where"`
}

// panicsFile is the path of that file.
func panicsFile(c *config.Config) string { return filepath.Join(c.Dir(), "panics.jsonl") }

// hearPanics has the panics of this process logged, noted for doctor, and said once.
func (l *Log) hearPanics(c *config.Config) {
	var count atomic.Int64
	guard.Report(func(p guard.Panic) {
		n := count.Add(1)
		log := l.Logger()
		log.Error().Str("work", p.Work).Str("what", p.What).Str("where", p.Where).Int64("count", n).
			Strs("stack", p.Stack).Msg("a mistake of ours ended a piece of work")
		if err := note(c, NotedPanic{time.Now(), Version, p.Work, p.What, p.Where}); err != nil {
			log.Warn().Err(err).Msg("noting a panic")
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
func note(c *config.Config, p NotedPanic) error {
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
func NotedPanics(c *config.Config, since time.Time) (noted []NotedPanic, log string, err error) {
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
		var p NotedPanic
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
