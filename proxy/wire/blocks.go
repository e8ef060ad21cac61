package wire

import "runtime/debug"

const (
	blockSize = 1 << 20
	joined    = 4 // blocks, of which the memory is given back before the next are joined
)

// blocks are the end of a long frame while it arrives. Appended to one slice it would be copied again and again, and
// leave three times its size behind.
type blocks struct {
	all  [][]byte
	size int
}

func (b *blocks) add(piece []byte) {
	b.size += len(piece)
	for len(piece) > 0 {
		last := len(b.all) - 1
		if last < 0 || len(b.all[last]) == blockSize {
			b.all = append(b.all, make([]byte, 0, blockSize))
			last++
		}
		n := min(blockSize-len(b.all[last]), len(piece))
		b.all[last] = append(b.all[last], piece[:n]...)
		piece = piece[n:]
	}
}

// behind gives the whole frame, of which begin is the beginning. The blocks are let go, and the system has them back
// while the frame grows: else a prompt would take twice its size.
func (b *blocks) behind(begin []byte) []byte {
	if b.size == 0 {
		return begin
	}
	whole := append(make([]byte, 0, len(begin)+b.size), begin...)
	for i, block := range b.all {
		whole = append(whole, block...)
		if b.all[i] = nil; i%joined == joined-1 {
			debug.FreeOSMemory()
		}
	}
	b.all, b.size = nil, 0
	return whole
}
