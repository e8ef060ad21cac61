package signet

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
)

// listeners gives the users that listen on a port of this machine.
func listeners(port int) (uids []int, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if errors.Is(err, fs.ErrNotExist) && table == "/proc/net/tcp6" { // a kernel without it
			continue
		}
		if err != nil {
			return nil, err
		}
		uids = append(uids, parseListeners(text, port)...)
	}
	return uids, nil
}

// nativeBytes are the bytes of a word as this machine keeps it.
func nativeBytes(word uint32) []byte { return binary.NativeEndian.AppendUint32(nil, word) }
