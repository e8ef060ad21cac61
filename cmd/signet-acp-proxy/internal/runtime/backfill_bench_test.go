//go:build unix

package runtime

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// BenchmarkBackfill takes in as many megabytes as SIGNET_BACKFILL_MB says (16), and tells what a gigabyte of such
// transcripts would cost: go test -tags sqlite_fts5 -run - -bench Backfill -benchtime 1x
// ./cmd/signet-acp-proxy/internal/runtime
func BenchmarkBackfill(b *testing.B) {
	want := 16
	if text := os.Getenv("SIGNET_BACKFILL_MB"); text != "" {
		var err error
		if want, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	home := b.TempDir()
	b.Setenv("HOME", home)
	b.Setenv("SIGNET_PATH", filepath.Join(home, ".agents"))
	s := transcriptWriter{filepath.Join(home, ".claude", "projects"), rand.New(rand.NewPCG(1, 2))}
	size := int64(0)
	for n := 0; size < int64(want)<<20; n++ {
		more, err := s.conversation(n, 40)
		if err != nil {
			b.Fatal(err)
		}
		size += more
	}
	c, err := config.Load(config.Flags{Memory: "embedded"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d, err := OpenData(b.Context(), c, term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		if err != nil {
			b.Fatal(err)
		}
		begun := spent()
		got, err := Backfill{Data: d}.Run(b.Context(), []string{"claude"})
		if err != nil {
			b.Fatal(err)
		}
		cpu := spent() - begun
		b.ReportMetric(float64(got[0].Turns), "turns")
		b.ReportMetric(cpu.Seconds()*float64(1<<30)/float64(size), "cpu-s/GB")
		b.ReportMetric(float64(peak()>>20), "peak-MB")
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		os.RemoveAll(filepath.Join(home, ".agents"))
	}
}

func spent() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func peak() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
