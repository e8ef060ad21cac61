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
)

var errTooLarge = errors.New("it is too large to be read at once")

// maxLine is the longest line that is looked at; a longer one holds files, not words.
const maxLine = 16 << 20

// errOdd is a line that cannot be read.
var errOdd = errors.New("no JSON object")

// An oddLines error is how many lines of a file are no JSON objects or too long, which the others are not.
type oddLines int

func (n oddLines) Error() string {
	if n == 1 {
		return fmt.Sprintf("one of its lines is broken or longer than %d MB", maxLine>>20)
	}
	return fmt.Sprintf("%d of its lines are broken or longer than %d MB", int(n), maxLine>>20)
}

func isOdd(err error) bool {
	var odd oddLines
	return errors.As(err, &odd)
}

// broken gives errOdd for a line that is no JSON. One that is of another shape than it is known here is nobody's words.
func broken(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return errOdd
	}
	return nil
}

// eachLine calls f for each line of a file, in memory that does not grow with it. A line that is too long, is no JSON
// object, or of which f says errOdd, is passed over, and counted unless it is the last one, which may still be on its
// way. Any other error of f ends it.
func eachLine(ctx context.Context, path string, f func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	var line []byte
	long, odd := false, 0
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if long = long || len(line) > maxLine; long {
			line = line[:0]
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		line = bytes.TrimSpace(line)
		is := long || len(line) > 0 && line[0] != '{'
		if len(line) > 0 && !is {
			if failed := f(line); errors.Is(failed, errOdd) {
				is = true
			} else if failed != nil {
				return failed
			}
		}
		if is && (err == nil || long) {
			odd++
		}
		switch {
		case err != nil && odd > 0:
			return oddLines(odd)
		case err != nil:
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		line, long = line[:0], false
	}
}

// toolOutput reports whether a line holds nothing but what a tool said, which is most of what harnesses write: it is
// not worth reading. One that may hold words too is read.
func toolOutput(line []byte) bool {
	return (bytes.Contains(line, toolResult) || bytes.Contains(line, toolUse)) && !bytes.Contains(line, textBlock)
}

// What stands in a text has its quotation marks escaped.
var toolResult, toolUse, textBlock = []byte(`"tool_result"`), []byte(`"tool_use"`), []byte(`"text"`)

// jsonLines makes one conversation of a file of JSON lines, each of which is a T.
func jsonLines[T any](take func(b *builder, line T)) func(context.Context, Place, string,
	func(Conversation) error) error {
	return func(ctx context.Context, _ Place, path string, yield func(Conversation) error) error {
		b := builder{Conversation: Conversation{File: path}}
		err := eachLine(ctx, path, func(line []byte) error {
			var v T
			if toolOutput(line) {
				return nil
			}
			if err := json.Unmarshal(line, &v); err != nil {
				return broken(err)
			}
			take(&b, v)
			if part, full := b.part(); full {
				return yield(part)
			}
			return nil
		})
		if err != nil && !isOdd(err) {
			return err
		}
		return cmp.Or(yield(b.Conversation), err)
	}
}
