package backfill

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// decode reads JSON, of which fields that have another type than we know are passed over: harnesses write much that is
// nobody's words. It returns false for what is no JSON.
func decode(text []byte, to any) bool {
	var broken *json.SyntaxError
	return !errors.As(json.Unmarshal(text, to), &broken)
}

// readWhole reads a file that is one value, of at most maxLine bytes.
func readWhole(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxLine {
		return nil, errTooLarge
	}
	return os.ReadFile(path)
}

// readJSON decodes such a file.
func readJSON(path string, to any) error {
	text, err := readWhole(path)
	if err == nil && !decode(text, to) {
		return errNotJSON
	}
	return err
}

// eachTextLine calls f for each line of a file of text, without its end. One that is longer than maxLine is an error.
func eachTextLine(ctx context.Context, path string, f func(line string) error) error {
	return readLines(ctx, path, func(line []byte, isLong, isWhole bool) error {
		switch {
		case isLong:
			return errTooLarge
		case len(line) == 0 && !isWhole:
			return nil
		}
		return f(strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), " \t\r\n"))
	})
}

// readLines calls f for each line of a file, in memory that does not grow with the file. isLong: it is longer than
// maxLine, and its words are not there; isWhole: it has an end. An error of f ends the reading.
func readLines(ctx context.Context, path string, f func(line []byte, isLong, isWhole bool) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	var line []byte
	isLong := false
	for {
		part, err := r.ReadSlice('\n')
		if isLong = isLong || len(line)+len(part) > maxLine; !isLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		if failed := cmp.Or(f(line, isLong, err == nil), ctx.Err()); failed != nil || err != nil {
			return failed
		}
		line, isLong = line[:0], false
	}
}

var errTooLarge = errors.New("it is too large to be read at once")

// maxLine is the longest line that is read, in bytes; a longer one holds files, not words.
const maxLine = 16 << 20

// errNotJSON says that a line cannot be read.
var errNotJSON = errors.New("no JSON object")

// badLines is an error: how many lines of a file are too long or no JSON objects. The others were read.
type badLines int

func (n badLines) Error() string {
	if n == 1 {
		return fmt.Sprintf("one of its lines is broken or longer than %d MB", maxLine>>20)
	}
	return fmt.Sprintf("%d of its lines are broken or longer than %d MB", int(n), maxLine>>20)
}

func isBadLines(err error) bool {
	var odd badLines
	return errors.As(err, &odd)
}

// eachLine calls f for each line that is a JSON object. Any other, one that is too long, and one for which f returns
// errNotJSON are passed over, and counted in the badLines that eachLine returns at the end: but for a last line without
// an end, which the harness may still be writing. Any other error of f ends the reading.
func eachLine(ctx context.Context, path string, f func(line []byte) error) error {
	odd := 0
	err := readLines(ctx, path, func(line []byte, isLong, isWhole bool) (err error) {
		line = bytes.TrimSpace(line)
		switch {
		case isLong:
			err, isWhole = errNotJSON, true
		case len(line) > 0 && line[0] != '{':
			err = errNotJSON
		case len(line) > 0:
			err = f(line)
		}
		if !errors.Is(err, errNotJSON) {
			return err
		}
		if isWhole {
			odd++
		}
		return nil
	})
	if err == nil && odd > 0 {
		return badLines(odd)
	}
	return err
}

// toolOutput reports whether a line holds nothing but the result of a tool that did what it should, which many long
// lines do: they are not decoded. A line that may hold words or a call as well is.
func toolOutput(line []byte) bool {
	return bytes.Contains(line, toolResult) && !bytes.Contains(line, toolUse) && !bytes.Contains(line, textBlock) &&
		!bytes.Contains(line, toolFailed)
}

// These cannot be found inside a text, where quotation marks are escaped.
var (
	toolResult, toolUse   = []byte(`"tool_result"`), []byte(`"tool_use"`)
	textBlock, toolFailed = []byte(`"text"`), []byte(`"is_error":true`)
)
