package wire

import (
	"bytes"
	"io"
	"sync"
)

// Lines writes frames of a pump, and between two of them frames of others.
type Lines struct {
	Out io.Writer

	mu      sync.Mutex // guards what follows
	inside  bool       // a frame has begun and not ended
	waiting []byte     // frames of others, until it has
}

// Write writes bytes of the pump's frames as they are.
func (l *Lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(b) == 0 {
		return 0, nil
	}
	before := 0
	if end := bytes.IndexByte(b, '\n') + 1; len(l.waiting) > 0 && end > 0 {
		if n, err := l.Out.Write(b[:end]); err != nil {
			return n, err
		}
		if _, err := l.Out.Write(l.waiting); err != nil {
			return end, err
		}
		l.waiting, before = nil, end
		if end == len(b) {
			l.inside = false
			return end, nil
		}
	}
	l.inside = b[len(b)-1] != '\n'
	n, err := l.Out.Write(b[before:])
	return before + n, err
}

// Add writes a frame, line end included, as soon as no other one has begun.
func (l *Lines) Add(frame []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inside {
		l.waiting = append(l.waiting, frame...)
		return nil
	}
	_, err := l.Out.Write(frame)
	return err
}
