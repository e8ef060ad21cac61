package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A client is one end of a connection to the agent.
type client struct {
	in  io.Writer
	out *bufio.Reader
	id  int
	pid int // of the command's own process

	opened int  // sessions, of which the last is talked to
	edited bool // the prompts carry the context, and are not at the agent what left
}

// open opens a session.
func (c *client) open(cwd string) error {
	_, err := c.call("session/new", `{"cwd":`+strconv.Quote(cwd)+`,"mcpServers":[]}`)
	c.opened++
	return err
}

// ask has a turn.
func (c *client) ask(text string) error {
	_, err := c.call("session/prompt", c.prompt(text))
	return err
}

func (c *client) prompt(text string) string {
	return `{"sessionId":"` + sessionID(c.opened) + `","prompt":[{"type":"text","text":"` + text + `"}]}`
}

// An answer is a response and what came before it.
type answer struct {
	Result struct {
		Meta struct {
			CRC uint32 `json:"crc"` // the agent's sum of what it sent, or of what it was sent
		} `json:"_meta"`
	}
	Error json.RawMessage
	crc   uint32 // our sum of what came before the response
}

func (c *client) call(method, params string) (answer, error) {
	c.id++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`+"\n", c.id,
		method, params); err != nil {
		return answer{}, err
	}
	return c.wait()
}

// wait reads to the next response, frames of any size in pieces.
func (c *client) wait() (answer, error) {
	var a answer
	start, response := true, false
	var line []byte
	for {
		piece, err := c.out.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return a, fmt.Errorf("waiting for a response: %w", err)
		}
		if start {
			response = bytes.HasPrefix(piece, []byte(`{"jsonrpc":"2.0","id":`))
		}
		if response {
			line = append(line, piece...)
		} else {
			a.crc = crc32.Update(a.crc, castagnoli, piece)
		}
		start = err == nil
		if start && response {
			break
		}
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	if a.Error != nil {
		return a, fmt.Errorf("error response: %s", a.Error)
	}
	return a, nil
}

// down times one turn in which the agent says so many frames of a size, each in a write of its own or as fast as it
// can.
func (c *client) down(count, size int, each bool) (time.Duration, error) {
	began := time.Now()
	a, err := c.call("session/prompt", c.prompt(fmt.Sprintf("down %d %d %t", count, size, each)))
	took := time.Since(began)
	if err == nil && a.crc != a.Result.Meta.CRC {
		err = fmt.Errorf("what arrived is not what the agent sent")
	}
	return took, err
}

// up times prompts of a size, one at a time.
func (c *client) up(count, size int) (time.Duration, error) {
	params := c.prompt(strings.Repeat("u", size-len(c.prompt(""))))
	var took time.Duration
	for range count {
		c.id++
		frame := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":%s}`+"\n", c.id, params)
		began := time.Now()
		if _, err := c.in.Write(frame); err != nil {
			return 0, err
		}
		a, err := c.wait()
		if err != nil {
			return 0, err
		}
		took += time.Since(began)
		if !c.edited && a.Result.Meta.CRC != crc32.Checksum(frame, castagnoli) {
			return 0, fmt.Errorf("what the agent was sent is not what left")
		}
	}
	return took, nil
}

// pings returns the median time of a small request.
func (c *client) pings(count int) (time.Duration, error) {
	var times []time.Duration
	for range count {
		began := time.Now()
		if _, err := c.call("session/set_mode", `{"sessionId":"`+sessionID(c.opened)+`","modeId":"m"}`); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
