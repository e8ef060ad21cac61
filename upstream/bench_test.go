package upstream

import (
	"fmt"
	"io"
	"testing"
)

// From Start to the harness's first byte, and its end.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := Start(Options{Command: []string{"cat"}})
		if err != nil {
			b.Fatal(err)
		}
		roundTrip(b, p, []byte("x"), make([]byte, 1))
		p.Hangup()
		p.Wait()
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{200, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			p, err := Start(Options{Command: []string{"cat"}})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Wait()
			defer p.Hangup()
			sent, got := make([]byte, size), make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				roundTrip(b, p, sent, got)
			}
		})
	}
}

// roundTrip sends no more than the pipe holds, or cat and we would wait for each other.
func roundTrip(b *testing.B, p *Process, sent, got []byte) {
	if _, err := p.Stdin.Write(sent); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(p.Stdout, got); err != nil {
		b.Fatal(err)
	}
}
