// Package wire carries frames between two ends. A pump reads them from one end and asks a Direction what becomes of
// each. A queue is the way out to the other end where frames may have to wait. The package knows lines and nothing of
// what they mean: no sessions, no methods.
package wire

import (
	"bytes"
	"errors"
	"io"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	bufferSize = 256 << 10 // bytes of a direction's read buffer: larger gains nothing, smaller costs system calls
	keepSize   = 64 << 10  // bytes up to which a frame that is not judged yet stays in the read buffer
	maxHeld    = 64 << 20  // bytes; a longer frame passes as it is, whatever it might have been
)

// A Verdict says what becomes of a frame.
type Verdict uint8

const (
	More   Verdict = iota // more has to be read to tell
	Pass                  // forwarded as it arrives, in pieces
	Tap                   // forwarded like Pass, and then given to Tapped
	Hold                  // kept until it is whole, and then given to Held, which forwards it
	Divert                // no frame: given to Stray, and not forwarded
)

// A Direction decides about the frames that flow one way. All methods are called from the one goroutine that runs the
// pump. Judge, TooLong and Tapped are guarded: where one panics the frame goes on as it came.
type Direction interface {
	// Judge says what becomes of a frame, of which b is the beginning, or all if whole is true. After More, which it
	// must not say of a whole frame, it is called again with more bytes.
	Judge(b []byte, whole bool) Verdict
	// TooLong says what becomes of a frame that was to be held, and of which b, more than maxHeld, is the beginning:
	// Pass or Tap.
	TooLong(b []byte) Verdict
	// Write forwards bytes, which it must not keep.
	Write(b []byte) error
	// Held handles a frame that was held, line end included, and forwards it. line is its own from then on. It guards
	// whatever is not forwarding.
	Held(line []byte) error
	// Tapped looks at a piece of a frame that was forwarded: at all of it, if it is first and last. It must not keep
	// piece.
	Tapped(piece []byte, first, last bool)
	// Stray takes a piece of a line that is no frame; first marks the line's first piece. The last piece always ends
	// in a line end.
	Stray(piece []byte, first bool)
}

// Pump moves frames from src to a Direction until src ends. It returns nil at the end of src, and otherwise the first
// error of reading or writing.
//
// Runs of untouched lines go out in one write, straight from the read buffer. A frame that passes is forwarded in the
// pieces in which it comes, so memory does not grow with it: peers that hold whole frames need twenty times the memory
// and twice the time.
func Pump(src io.Reader, d Direction) error {
	p := pumping{d: guarded{d}, buf: make([]byte, bufferSize)}
	for {
		n, err := src.Read(p.buf[p.end:])
		p.end += n
		if n > 0 {
			if err := p.advance(false); err != nil {
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

// guarded keeps a mistake in what a Direction makes of a frame away from the frame.
type guarded struct{ Direction }

func (g guarded) Judge(b []byte, whole bool) (v Verdict) {
	v = Pass
	guard.Run("judging a frame", func() { v = g.Direction.Judge(b, whole) })
	return v
}

func (g guarded) TooLong(b []byte) (v Verdict) {
	v = Pass
	guard.Run("judging a frame", func() { v = g.Direction.TooLong(b) })
	return v
}

func (g guarded) Tapped(piece []byte, first, last bool) {
	guard.Run("reading a frame", func() { g.Direction.Tapped(piece, first, last) })
}

// pumping is the state of a pump between two reads.
type pumping struct {
	d    Direction
	buf  []byte
	end  int     // buf[:end] was read and is not handled
	mode Verdict // of the line that goes on in the next read; More between lines
	long []byte  // the beginning of a frame that is held or not judged yet
	rest blocks  // what follows it, if the frame is large
	next int     // while long is not judged: its length at which to ask again
	taps []tap   // in the bytes that are forwarded next
}

// A tap is a piece of a tapped frame.
type tap struct {
	piece       []byte
	first, last bool
}

// advance handles what is in the buffer, and leaves the beginning of a line that is not judged yet at its front. With
// last, a line without a line end is whole.
func (p *pumping) advance(last bool) error {
	from, pos := 0, 0 // buf[from:pos] waits to be forwarded in one write
	for pos < p.end {
		line, whole := p.buf[pos:p.end], last
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line, whole = line[:nl+1], true
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

// begin starts a line that is not forwarded as it comes, and ends it if it is whole.
func (p *pumping) begin(v Verdict, line []byte, whole bool) error {
	switch {
	case v == Divert:
		if whole && line[len(line)-1] != '\n' {
			line = append(line, '\n')
		}
		p.d.Stray(line, true)
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

// resume goes on with a line that began in an earlier read. forward says that the piece is to be forwarded with the
// bytes around it.
func (p *pumping) resume(piece []byte, whole bool) (forward bool, err error) {
	switch p.mode {
	case Pass:
		forward = true
	case Tap:
		forward = true
		p.taps = append(p.taps, tap{piece, false, whole})
	case Divert:
		p.d.Stray(piece, false)
	case Hold, More:
		return false, p.hold(piece, whole)
	}
	if whole {
		p.reset()
	}
	return forward, nil
}

// hold adds a piece to the frame that is held, and acts once the frame is judged, whole or too long.
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
	mode, tooLong := p.mode, len(p.long)+p.rest.size > maxHeld
	switch {
	case tooLong || mode == Pass || mode == Tap:
		return p.release(mode, whole)
	case mode == Hold && whole:
		return p.d.Held(p.whole())
	case mode == Divert:
		line := p.whole()
		p.d.Stray(line, true)
		if !whole {
			p.mode = Divert
		}
	case whole:
		p.reset()
	}
	return nil
}

// release forwards what was held of a frame, which was judged or is too long. What is still to come passes, or is
// tapped like the rest.
func (p *pumping) release(mode Verdict, whole bool) error {
	line := p.whole()
	look := mode == Tap || mode == Hold && p.d.TooLong(line) == Tap
	if !whole {
		p.mode = Pass
		if look {
			p.mode = Tap
		}
	}
	if err := p.d.Write(line); err != nil {
		return err
	}
	if look {
		p.d.Tapped(line, true, whole)
	}
	return nil
}

// whole returns what was held, and forgets it.
func (p *pumping) whole() []byte {
	line := p.rest.append(p.long)
	p.reset()
	return line
}

// reset forgets the line that has ended.
func (p *pumping) reset() {
	p.mode, p.next = More, 0
	p.long, p.rest = nil, blocks{}
}

// flush forwards buf[from:to] in one write, and then gives the tapped frames in it to Tapped.
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

// finish ends a last line without a line end: it is a frame like any other.
func (p *pumping) finish() error {
	var end []byte
	switch {
	case p.end > 0:
		return p.advance(true)
	case p.mode == More && len(p.long) == 0: // there is none
		return nil
	case p.mode == Divert:
		end = []byte{'\n'}
	}
	if _, err := p.resume(end, true); err != nil {
		return err
	}
	return p.flush(0, 0)
}
