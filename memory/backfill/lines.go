package backfill

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
)

var errTooLarge = errors.New("it is too large to be read at once")

// maxLine is the longest line that is looked at; a longer one holds files, not words.
const maxLine = 16 << 20

// eachLine calls f for each line of a file, in memory that does not grow with it. A line that is too long, or is no
// JSON object, is passed over: the last one may still be on its way. An error of f ends it.
func eachLine(ctx context.Context, path string, f func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	var line []byte
	long := false
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
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' && !long {
			if err := f(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		line, long = line[:0], false
	}
}

// toolOutput reports whether a line holds nothing but what a tool said, which is most of what harnesses write: it is not
// worth reading. One that may hold words too is read.
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
			if toolOutput(line) || json.Unmarshal(line, &v) != nil {
				return nil
			}
			take(&b, v)
			if part, full := b.part(); full {
				return yield(part)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return yield(b.Conversation)
	}
}
