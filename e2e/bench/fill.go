package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

const (
	turnsEach  = 10                   // of a session in the database
	vocabulary = 5000                 // words that are talked of, a few of them often
	age        = 180 * 24 * time.Hour // of the first: within what is kept
)

// fill has the database of a proxy hold so many sessions: conversations of Claude's, which `memory backfill` takes in.
func fill(ctx context.Context, box *sandbox.Sandbox, proxy string, sessions int) (spent spent, err error) {
	dir := filepath.Join(box.Home, ".claude", "projects", "-work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return spent, err
	}
	dice := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(dice, 1.2, 8, vocabulary-1)
	for n := range sessions {
		name := filepath.Join(dir, fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", n))
		if err := writeTranscript(name, n, box.Work, dice, words); err != nil {
			return spent, err
		}
	}
	fmt.Fprintf(os.Stderr, "taking in %d sessions\n", sessions)
	spent, err = run(ctx, box, proxy, "memory", "backfill", "claude")
	return spent, errors.Join(err, os.RemoveAll(dir))
}

// writeTranscript writes a conversation as Claude Code does.
func writeTranscript(name string, session int, cwd string, dice *rand.Rand, words *rand.Zipf) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	began := time.Now().Add(-age + time.Duration(session)*time.Minute)
	for turn := range turnsEach {
		for side, role := range []string{"user", "assistant"} {
			fmt.Fprintf(w, `{"type":%q,"uuid":"%d-%d-%d","sessionId":"s-%d","cwd":%q,"timestamp":%q,`+
				`"message":{"role":%q,"content":%q}}`+"\n", role, session, turn, side, session, cwd,
				began.Add(time.Duration(2*turn+side)*time.Second).Format(time.RFC3339), role, prose(dice, words))
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// prose returns some sentences about something.
func prose(dice *rand.Rand, words *rand.Zipf) string {
	var b strings.Builder
	for range 10 + dice.IntN(60) {
		fmt.Fprintf(&b, "w%dx ", words.Uint64())
	}
	return b.String()
}
