package agent

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// A Session is what the agent remembers of one conversation: the file ID.json in the agent's folder. Tests read it.
type session struct {
	ID       string `json:"id"`
	Cwd      string `json:"cwd"`
	Attempts int    `json:"attempts"` // prompts received, the failed ones too
	Turns    []turn `json:"turns"`
}

// A turn is a prompt as it came in, and the answer.
type turn struct {
	Blocks []block `json:"blocks"`
	Reply  string  `json:"reply"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"` // a text block's; of other kinds what names the content
}

func (t turn) texts() []string {
	var texts []string
	for _, b := range t.Blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return texts
}

var errNoSession = errors.New("no such session")

// Sessions keeps sessions in a folder, one file each, and a log of the requests of every process that used the folder.
type sessions struct {
	dir string

	mu sync.Mutex
}

func openSessions(dir string) (*sessions, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &sessions{dir: dir}, nil
}

func (s *sessions) create(cwd string) (session, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return session{}, err
	}
	one := session{ID: fmt.Sprintf("echo-%x", random), Cwd: cwd}
	return one, s.save(one)
}

func (s *sessions) save(one session) error {
	text, err := json.MarshalIndent(one, "", " ")
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Rename, so that another process never reads half a session.
	temp := filepath.Join(s.dir, fmt.Sprintf("%s.%d.tmp", one.ID, os.Getpid()))
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, s.path(one.ID))
}

func (s *sessions) find(id string) (session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := os.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return session{}, errNoSession
	}
	if err != nil {
		return session{}, err
	}
	var one session
	return one, json.Unmarshal(text, &one)
}

func (s *sessions) all() ([]session, error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "echo-*.json"))
	if err != nil {
		return nil, err
	}
	var found []session
	for _, f := range files {
		one, err := s.find(filepath.Base(f[:len(f)-len(".json")]))
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

// Path keeps a foreign id inside the folder.
func (s *sessions) path(id string) string { return filepath.Join(s.dir, filepath.Base(id)+".json") }

// A request is a line of requests.log.
type request struct {
	Pid     int    `json:"pid"`
	Method  string `json:"method"`
	Session string `json:"session,omitempty"`
}

// Log notes a request; one write a line, so that lines of several processes do not mix. In a delegation's bounds the
// folder is its own, so the line goes to the address in ECHOAGENT_LOG, which hangs up when it has it.
func (s *sessions) log(method, id string) {
	line, err := json.Marshal(request{os.Getpid(), method, id})
	if err != nil {
		return
	}
	if address := os.Getenv("ECHOAGENT_LOG"); address != "" {
		if conn, err := net.Dial("tcp", address); err == nil {
			defer conn.Close()
			_, _ = conn.Write(append(line, '\n'))
			_, _ = io.Copy(io.Discard, conn)
		}
		return
	}
	f, err := os.OpenFile(filepath.Join(s.dir, "requests.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	f.Write(append(line, '\n'))
}
