package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A bench in which everything takes what it may is inside its limits; a little more of one thing misses that one.
func TestMisses(t *testing.T) {
	const mib = 1 << 20
	l := limits{Stream: 1.25, Request: 20 * time.Microsecond, Start: 5 * time.Millisecond, Peak: 20, Private: 8,
		Held: 1.5, Returned: 5 * time.Second}
	for _, tt := range []struct {
		name   string
		slack  float64
		change func(b *bench)
		want   string // the only miss; "" for none
	}{
		{"all as allowed", 1, func(*bench) {}, ""},
		{"a slow stream", 1, func(b *bench) { b.proxy.samples["down-4KB"][0].took = 126 * time.Millisecond }, "down-4KB: 1.26 times cat, limit 1.25"},
		{"the same, doubled", 2, func(b *bench) { b.proxy.samples["down-4KB"][0].took = 126 * time.Millisecond }, ""},
		{"a stream that was decoded, doubled", 2, func(b *bench) { b.proxy.samples["down-4KB"][0].took = 700 * time.Millisecond }, "down-4KB: 7.00 times cat, limit 2.50"},
		{"one good round is enough", 1, func(b *bench) {
			b.proxy.samples["tokens"] = append([]sample{{took: time.Hour}}, b.proxy.samples["tokens"]...)
		}, ""},
		{"a slow request", 1, func(b *bench) { b.proxy.samples["pingpong"][0].took += time.Microsecond }, "pingpong: 21µs above cat, limit 20µs"},
		{"a slow start", 1, func(b *bench) { b.proxy.samples["startup"][0].took += time.Millisecond }, "startup: 6ms above direct, limit 5ms"},
		{"too much memory", 1, func(b *bench) { b.proxy.samples["up-1MB"][0].used.peak += mib }, "up-1MB: peak 21.0 MiB, limit 20.0"},
		{"too much of its own", 1, func(b *bench) { b.proxy.samples["up-1MB"][0].used.private += mib }, "up-1MB: private 9.0 MiB, limit 8.0"},
		{"a held prompt that is copied", 1, func(b *bench) { b.proxy.samples["held-20MB"][0].used.peak += mib }, "held-20MB: peak above the idle process 31.0 MiB, limit 30.0"},
		{"a held prompt that is kept", 1, func(b *bench) { b.proxy.samples["held-20MB"][0].returned += time.Second }, "held-20MB: its memory is back with the system after 6s, limit 5s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &bench{judged: scenarios}
			for _, v := range []**variant{&b.direct, &b.floor, &b.proxy} {
				*v = &variant{samples: map[string][]sample{}}
			}
			for _, s := range scenarios {
				floor := sample{took: 100 * time.Millisecond, used: usage{peak: 20 * mib, private: 8 * mib}}
				mine := floor
				switch s.kind {
				case start:
					mine.took += l.Start
				case request:
					mine.took += l.Request
				case stream:
					mine.took = 125 * time.Millisecond
				case held:
					mine.used.peak, mine.idle, mine.returned = 50*mib, 20*mib, l.Returned
				}
				b.direct.samples[s.name], b.floor.samples[s.name], b.proxy.samples[s.name] = []sample{floor}, []sample{floor},
					[]sample{mine}
			}
			tt.change(b)
			again, misses := b.misses(l, tt.slack)
			if got := strings.Join(misses, "\n"); got != tt.want {
				t.Errorf("misses %q, want %q", got, tt.want)
			}
			if tt.want != "" && (len(again) != 1 || !strings.HasPrefix(tt.want, again[0].name+":")) {
				t.Errorf("would run %v again", again)
			}
		})
	}
}

func TestReadLimits(t *testing.T) {
	l, err := readLimits()
	if err != nil {
		t.Fatal(err)
	}
	if l.Stream < 1 || l.Request <= 0 || l.Start <= 0 || l.Peak <= 0 || l.Private <= 0 ||
		l.Held < 1 || l.Returned <= 0 {
		t.Errorf("a limit is missing: %+v", l)
	}
}

func TestInto(t *testing.T) {
	page := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(page, []byte("before\n"+tableBegin+"old\n"+tableEnd+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := into(page, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if want := "before\n" + tableBegin + "```text\nnew\n```\n" + tableEnd +
		"\nafter\n"; err != nil || string(got) != want {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
	if err := os.WriteFile(page, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if into(page, "new\n") == nil {
		t.Error("a page without a place for the table is no error")
	}
}
