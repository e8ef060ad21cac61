// Package wire carries frames between two ends: a pump reads them off one end and asks a Direction what becomes of
// each, and a queue is the way out to the other where one of them may have to wait. It knows lines and nothing of
// what they mean: no sessions, no methods.
package wire

import (
	"bytes"
	"errors"
	"io"
)

const (
	BufferSize = 256 << 10 // a direction's read buffer: larger gains nothing, smaller costs system calls
	keepSize   = 64 << 10  // a frame whose kind is not known yet stays in the read buffer up to this size
	MaxHeld    = 64 << 20  // a frame longer than this passes as it is, whatever it might have been
)

// A Verdict says what becomes of a frame.
type Verdict uint8

const (
	More   Verdict = iota // too little was read to tell
	Pass                  // forwarded as it arrives, in pieces, and forgotten
	Tap                   // forwarded like pass, then looked at
	Hold                  // kept until it is whole, because it may be edited
	Divert                // no frame: kept off the wire
)

// A Direction decides about the frames that flow one way. All methods are
// called from the one goroutine that runs the pump.
type Direction interface {
	// Judge says what becomes of the frame that b begins, or is when whole.
	// It is called again with more bytes only after the verdict More, which it must
	// not give for a whole frame.
	Judge(b []byte, whole bool) Verdict
	// Write forwards bytes. They are the pump's again when it returns.
	Write(b []byte) error
	// Held handles a frame that was held, line end included, and forwards it. It may keep line.
	Held(line []byte) error
	// Tapped looks at a piece of a frame that has been forwarded: the whole, if it is first and last. The bytes are the
	// pump's again when it returns.
	Tapped(piece []byte, first, last bool)
	// Diverted takes a piece of a line that is no frame; first marks the line's first piece. Each such line gets an
	// end.
	Diverted(piece []byte, first bool)
}

// Pump moves frames from src to a Direction until src ends. It returns nil
// at the end of src and otherwise the first error of reading or writing.
//
// Runs of untouched lines go out in one write, straight from the read
// buffer; a frame that passes is forwarded in the pieces in which it comes,
// so memory does not grow with it (facts: peers that hold whole frames need
// twenty times the memory and twice the time).
func Pump(src io.Reader, d Direction) error {
	p := pumping{d: d, buf: make([]byte, BufferSize)}
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
	d    Direction
	buf  []byte
	end  int // buf[:end] was read and not dealt with
	mode Verdict
	long []byte // a frame being held, or its beginning, and
	rest blocks // what follows where it is long
	next int    // while the kind of long is unknown: ask again at this length
	taps []tap  // in the run that goes out next
}

// A tap is a piece of a tapped frame.
type tap struct {
	piece       []byte
	first, last bool
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
		if p.mode != More || len(p.long) > 0 {
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
		v := p.d.Judge(line, whole)
		if v == Pass || v == Tap {
			pos += len(line)
			if v == Tap {
				p.taps = append(p.taps, tap{line, true, whole})
			}
			if !whole {
				p.mode = v
			}
			continue
		}
		if err := p.flush(from, pos); err != nil {
			return err
		}
		if v == More && len(line) < keepSize { // wait for the rest at the front of the buffer
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
func (p *pumping) begin(v Verdict, line []byte, whole bool) error {
	switch {
	case v == Divert:
		p.d.Diverted(line, true)
	case v == Hold && whole:
		return p.d.Held(bytes.Clone(line))
	case v == Hold || v == More:
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
	case Pass:
		forward = true
	case Tap:
		forward = true
		p.taps = append(p.taps, tap{piece, false, whole})
	case Divert:
		p.d.Diverted(piece, false)
	case Hold, More:
		return false, p.hold(piece, whole)
	}
	if whole {
		p.reset()
	}
	return forward, nil
}

// hold adds a piece to the frame that is held and acts once the frame is whole or too long.
func (p *pumping) hold(piece []byte, whole bool) error {
	if p.mode == Hold && len(p.long) >= blockSize {
		p.rest.add(piece)
	} else {
		p.long = append(p.long, piece...)
	}
	if p.mode == More && (whole || len(p.long) >= p.next) {
		p.next = 2 * len(p.long)
		p.mode = p.d.Judge(p.long, whole)
	}
	tooLong := len(p.long)+p.rest.size > MaxHeld
	switch {
	case p.mode == Hold && whole && !tooLong:
		line := p.whole()
		return p.d.Held(line)
	case tooLong || p.mode == Pass || p.mode == Tap:
		look := p.mode == Tap
		line := p.whole()
		if !whole {
			p.mode = Pass
		}
		if look && !whole {
			p.mode = Tap
		}
		if err := p.d.Write(line); err != nil {
			return err
		}
		if look {
			p.d.Tapped(line, true, whole)
		}
	case p.mode == Divert:
		line := p.long
		p.reset()
		p.d.Diverted(line, true)
		if !whole {
			p.mode = Divert
		}
	case whole:
		p.reset()
	}
	return nil
}

// whole gives what was held, and forgets it.
func (p *pumping) whole() []byte {
	line := p.rest.behind(p.long)
	p.reset()
	return line
}

// reset forgets the line that has ended. The memory of a large one is let go.
func (p *pumping) reset() {
	p.mode, p.next = More, 0
	p.long, p.rest = nil, blocks{}
}

// flush forwards buf[from:to] in one write and then shows the tapped frames in it.
func (p *pumping) flush(from, to int) error {
	if from < to {
		if err := p.d.Write(p.buf[from:to]); err != nil {
			return err
		}
	}
	for _, t := range p.taps {
		p.d.Tapped(t.piece, t.first, t.last)
	}
	p.taps = p.taps[:0]
	return nil
}

// finish deals with a last line that has no line end: it is a frame like any other.
func (p *pumping) finish() error {
	if line := p.buf[:p.end]; len(line) > 0 {
		p.end = 0
		switch v := p.d.Judge(line, true); v {
		case Pass, Tap:
			if err := p.d.Write(line); err != nil {
				return err
			}
			if v == Tap {
				p.d.Tapped(line, true, true)
			}
		case Divert:
			p.d.Diverted(append(line, '\n'), true) // more may be said where it goes
		default:
			return p.begin(v, line, true)
		}
		return nil
	}
	switch {
	case p.mode == Divert:
		p.d.Diverted([]byte("\n"), false)
	case p.mode == Tap:
		p.d.Tapped(nil, false, true)
	case len(p.long) > 0:
		return p.hold(nil, true)
	}
	return nil
}
