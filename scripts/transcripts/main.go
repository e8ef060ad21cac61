// Command transcripts writes dialogues out as Claude Code would have written them, for memory backfill to take in:
//
//	transcripts HOME FOLDER DIALOGUE.json…
//
// Each session of a dialogue becomes a file below HOME/.claude/projects, of a conversation in FOLDER. The first
// speaker is the user, the other one answers.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: transcripts HOME FOLDER DIALOGUE.json…")
		os.Exit(2)
	}
	for _, name := range os.Args[3:] {
		if err := write(os.Args[1], os.Args[2], name); err != nil {
			fmt.Fprintln(os.Stderr, "transcripts:", err)
			os.Exit(1)
		}
	}
}

// A dialogue is what two people said to each other.
type dialogue struct {
	Name     string
	Speakers []string
	Sessions []struct {
		N     int
		Turns []utterance
	}
}

type utterance struct {
	Who, Text string
	At        time.Time
}

// A line is what Claude writes down of an utterance.
type line struct {
	Type      string    `json:"type"`
	SessionID string    `json:"sessionId"`
	Cwd       string    `json:"cwd"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"message"`
}

func write(home, folder, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var d dialogue
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(d.Speakers) == 0 {
		return fmt.Errorf("%s: nobody speaks in it", name)
	}
	dir := filepath.Join(home, ".claude", "projects", strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, folder))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, s := range d.Sessions {
		id := fmt.Sprintf("%s-%03d-0123456789", d.Name, s.N)
		if err := transcript(filepath.Join(dir, id+".jsonl"), id, folder, d.Speakers[0], s.Turns); err != nil {
			return err
		}
	}
	return nil
}

// transcript writes one conversation. Where the other one begins, the user has asked to go on.
func transcript(path, id, folder, user string, said []utterance) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	out := json.NewEncoder(w)
	for i, u := range said {
		l := line{Type: "user", SessionID: id, Cwd: folder, Timestamp: u.At}
		l.Message.Role, l.Message.Content = "user", u.Text
		if u.Who != user {
			if i == 0 {
				opening := l
				opening.Message.Content = "Go on."
				if err := out.Encode(opening); err != nil {
					return err
				}
			}
			l.Type, l.Message.Role = "assistant", "assistant"
			l.Message.Content = []map[string]string{{"type": "text", "text": u.Text}}
		}
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	return w.Flush()
}
