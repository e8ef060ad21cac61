package proxy

import (
	"bytes"
	"errors"
	"io"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

const (
	bufferSize = 256 << 10 // a direction's read buffer: larger gains nothing, smaller costs system calls
	keepSize   = 64 << 10  // a frame whose kind is not known yet stays in the read buffer up to this size
	maxHeld    = 64 << 20  // a frame longer than this passes as it is, whatever it might have been
	maxTapped  = 112 << 10 // of a frame that is only looked at, no more than this is copied, images not counted
)

// A verdict says what becomes of a frame.
type verdict uint8

const (
	more   verdict = iota // too little was read to tell
	pass                  // forwarded as it arrives, in pieces, and forgotten
	tap                   // forwarded like pass, then looked at
	hold                  // kept until it is whole, because it may be edited
	divert                // no frame: kept off the wire
)

// A direction decides about the frames that flow one way. All methods are
// called from the one goroutine that runs the pump.
type direction interface {
	// judge says what becomes of the frame that b begins, or is when whole.
	// It is called again with more only after the verdict more, which it must
	// not give for a whole frame.
	judge(b []byte, whole bool) verdict
	// write forwards bytes. They are the pump's again when it returns.
	write(b []byte) error
	// held handles a frame that was held, line end included, and forwards it. It may keep line.
	held(line []byte) error
	// tapped looks at a frame that has been forwarded. One that is longer than maxTapped is cut there, and lacks what images hold.
	tapped(line []byte)
	// diverted takes a piece of a line that is no frame; first marks the line's first piece. Each such line gets an end.
	diverted(piece []byte, first bool)
}

// pump moves frames from src to a direction until src ends. It returns nil
// at the end of src and otherwise the first error of reading or writing.
//
// Runs of untouched lines go out in one write, straight from the read
// buffer; a frame that passes is forwarded in the pieces in which it comes,
// so memory does not grow with it (facts: peers that hold whole frames need
// twenty times the memory and twice the time).
func pump(src io.Reader, d direction) error {
	p := pumping{d: d, buf: make([]byte, bufferSize)}
	for {
		n, err := src.Read(p.buf[p.end:])
		p.end += n
		if n > 0 {
			if err := p.advance(); err != nil {
				return err
			}
		}
		if err != nil {
			if werr := p.finish(); werr != nil {
				return werr
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// pumping is the state of one pump between two reads.
type pumping struct {
	d    direction
	buf  []byte
	end  int // buf[:end] was read and not dealt with
	mode verdict
	long []byte         // a frame being held
	thin *frame.Thinner // a tapped frame that comes in pieces
	next int            // while the kind of long is unknown: ask again at this length
	taps [][]byte       // whole tapped frames in the run that goes out next
}

// advance deals with what is in the buffer. Between lines mode is more with
// nothing in long; within a line that is longer than the buffer it is the line's verdict.
func (p *pumping) advance() error {
	from, pos := 0, 0 // buf[from:pos] waits to be forwarded in one write
	for pos < p.end {
		rest := p.buf[pos:p.end]
		nl := bytes.IndexByte(rest, '\n')
		whole := nl >= 0
		line := rest
		if whole {
			line = rest[:nl+1]
		}
		if p.mode != more || len(p.long) > 0 {
			forward, err := p.resume(line, whole)
			if err != nil {
				return err
			}
			pos += len(line)
			if !forward {
				from = pos
			}
			continue
		}
		v := p.d.judge(line, whole)
		if v == pass || v == tap {
			pos += len(line)
			switch {
			case whole && v == tap:
				p.taps = append(p.taps, line)
			case !whole:
				p.mode = v
				if v == tap {
					p.keep(line)
				}
			}
			continue
		}
		if err := p.flush(from, pos); err != nil {
			return err
		}
		if v == more && len(line) < keepSize { // wait for the rest at the front of the buffer
			p.end = copy(p.buf, line)
			return nil
		}
		pos += len(line)
		from = pos
		if err := p.begin(v, line, whole); err != nil {
			return err
		}
	}
	p.end = 0
	return p.flush(from, pos)
}

// begin starts, and when the line is whole ends, a line that is not forwarded as it comes.
func (p *pumping) begin(v verdict, line []byte, whole bool) error {
	switch {
	case v == divert:
		p.d.diverted(line, true)
	case v == hold && whole:
		return p.d.held(bytes.Clone(line))
	case v == hold || v == more:
		p.long = append(p.long[:0], line...)
		p.next = 2 * len(line)
	}
	if !whole {
		p.mode = v
	}
	return nil
}

// resume goes on with a line that began in an earlier read. forward says
// that the piece is to leave with the run around it.
func (p *pumping) resume(piece []byte, whole bool) (forward bool, err error) {
	switch p.mode {
	case pass:
		forward = true
	case tap:
		forward = true
		p.keep(piece)
		if whole { // looked at with the other frames of this run, after it has left
			p.taps = append(p.taps, p.thin.Bytes())
		}
	case divert:
		p.d.diverted(piece, false)
	case hold, more:
		return false, p.hold(piece, whole)
	}
	if whole {
		p.reset()
	}
	return forward, nil
}

// hold adds a piece to the frame that is held and acts once the frame is whole or too long.
func (p *pumping) hold(piece []byte, whole bool) error {
	p.long = append(p.long, piece...)
	if p.mode == more && (whole || len(p.long) >= p.next) {
		p.next = 2 * len(p.long)
		p.mode = p.d.judge(p.long, whole)
	}
	tooLong := len(p.long) > maxHeld
	switch {
	case p.mode == hold && whole && !tooLong:
		line := p.long
		p.reset()
		return p.d.held(line)
	case tooLong || p.mode == pass || p.mode == tap:
		line := p.long
		look := p.mode == tap
		p.reset()
		if !whole {
			p.mode = pass
		}
		if look && !whole {
			p.mode = tap
			p.keep(line)
		}
		if err := p.d.write(line); err != nil {
			return err
		}
		if look && whole {
			p.d.tapped(thin(line, maxTapped))
		}
	case p.mode == divert:
		line := p.long
		p.reset()
		p.d.diverted(line, true)
		if !whole {
			p.mode = divert
		}
	case whole:
		p.reset()
	}
	return nil
}

// keep copies a piece of a tapped frame.
func (p *pumping) keep(piece []byte) {
	if p.thin == nil {
		p.thin = newThinner(maxTapped)
	}
	p.thin.Write(piece)
}

// newThinner leaves out what images, audio and embedded files hold, and the middle of long texts: what stands behind them counts too.
func newThinner(limit int) *frame.Thinner {
	return &frame.Thinner{Without: []string{"data", "blob"}, Halve: true, Limit: limit}
}

// thin gives a frame as it is if it is no longer than the limit, else a copy with that left out and cut there.
func thin(line []byte, limit int) []byte {
	if len(line) <= limit {
		return line
	}
	t := newThinner(limit)
	t.Write(line)
	return t.Bytes()
}

// reset forgets the line that has ended. The memory of a large one is let go.
func (p *pumping) reset() {
	p.mode, p.next = more, 0
	p.long, p.thin = nil, nil
}

// flush forwards buf[from:to] in one write and then shows the tapped frames in it.
func (p *pumping) flush(from, to int) error {
	if from < to {
		if err := p.d.write(p.buf[from:to]); err != nil {
			return err
		}
	}
	for i, line := range p.taps {
		p.d.tapped(thin(line, maxTapped))
		p.taps[i] = nil
	}
	p.taps = p.taps[:0]
	return nil
}

// finish deals with a last line that has no line end: it is a frame like any other.
func (p *pumping) finish() error {
	if line := p.buf[:p.end]; len(line) > 0 {
		p.end = 0
		switch v := p.d.judge(line, true); v {
		case pass, tap:
			if err := p.d.write(line); err != nil {
				return err
			}
			if v == tap {
				p.d.tapped(thin(line, maxTapped))
			}
		case divert:
			p.d.diverted(append(line, '\n'), true) // more may be said where it goes
		default:
			return p.begin(v, line, true)
		}
		return nil
	}
	switch {
	case p.mode == divert:
		p.d.diverted([]byte("\n"), false)
	case p.mode == tap && p.thin != nil:
		p.d.tapped(p.thin.Bytes())
	case len(p.long) > 0:
		return p.hold(nil, true)
	}
	return nil
}
