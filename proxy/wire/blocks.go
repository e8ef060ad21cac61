package wire

import "runtime/debug"

const (
	blockSize     = 1 << 20 // bytes
	blocksPerFree = 4       // how many blocks are copied before their memory is returned to the system
)

// blocks are the end of a large frame while it arrives. One slice that grows would be copied again and again, and leave
// three times the frame's size behind.
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

// append returns begin with the blocks appended. Their memory is returned to the system while the frame grows:
// otherwise a prompt would take twice its size.
func (b *blocks) append(begin []byte) []byte {
	if b.size == 0 {
		return begin
	}
	whole := append(make([]byte, 0, len(begin)+b.size), begin...)
	for i, block := range b.all {
		whole = append(whole, block...)
		if b.all[i] = nil; i%blocksPerFree == blocksPerFree-1 {
			debug.FreeOSMemory()
		}
	}
	b.all, b.size = nil, 0
	return whole
}
