package files

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"
)

// Text reads the first most bytes of a regular file, symbolic links followed, as valid UTF-8 with line feeds only,
// trimmed.
func Text(name string, most int64) (string, error) {
	f, err := open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(string(bytes.TrimPrefix(decodeText(data), []byte("\ufeff"))), "\ufffd")
	return strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(text)), nil
}

// decodeText turns UTF-16 with a byte order mark, as Windows editors write it, into UTF-8, and leaves other bytes
// alone.
func decodeText(data []byte) []byte {
	big := bytes.HasPrefix(data, []byte{0xFE, 0xFF})
	if !big && !bytes.HasPrefix(data, []byte{0xFF, 0xFE}) {
		return data
	}
	data = data[2:]
	var order binary.ByteOrder = binary.LittleEndian
	if big {
		order = binary.BigEndian
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}
