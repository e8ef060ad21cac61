package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A byteSize is a number of bytes.
type byteSize int64

var units = []struct {
	name  string
	bytes int64
}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// parseSize reads a whole number with its unit, such as 500MB.
func parseSize(text string) (byteSize, error) {
	for _, u := range units {
		if number, ok := strings.CutSuffix(strings.ToUpper(text), u.name); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
			return byteSize(int64(n) * u.bytes), err //nolint:gosec // 32 bits times 1e9 fit
		}
	}
	if text == "0" {
		return 0, nil
	}
	return 0, errors.New("no unit")
}

// String is what parseSize reads.
func (s byteSize) String() string {
	for _, u := range units {
		if s > 0 && int64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(s)/u.bytes, u.name)
		}
	}
	return "0"
}
