package main

import "time"

// A scenario is a conversation of which one part is timed.
type scenario struct {
	name   string
	kind   kind
	frames int                                    // that the part is about
	run    func(c *client) (time.Duration, error) // nil: the start-up alone
}

// A kind says which limit a scenario has.
type kind int

const (
	start kind = iota
	request
	stream
	held // a prompt that waits for its context; also how soon its memory is given back
)

const (
	requests = 2000
	heldSize = 20 << 20
)

// The first is what others are compared with.
var scenarios = []scenario{
	{"startup", start, 1, nil},
	{"pingpong", request, requests, func(c *client) (time.Duration, error) { return c.pings(requests) }},
	down("tokens", 20_000, 300, true),
	down("down-200B", 200_000, 200, false),
	down("down-4KB", 20_000, 4<<10, false),
	down("down-64KB", 2_000, 64<<10, false),
	down("down-1MB", 100, 1<<20, false),
	down("down-20MB", 4, 20<<20, false),
	up("up-4KB", 500, 4<<10),
	up("up-1MB", 40, 1<<20),
	up("up-20MB", 4, 20<<20),
	{"held-20MB", held, 1, func(c *client) (time.Duration, error) { return c.up(1, heldSize) }},
}

func down(name string, frames, size int, each bool) scenario {
	return scenario{name, stream, frames, func(c *client) (time.Duration, error) { return c.down(frames, size, each) }}
}

func up(name string, frames, size int) scenario {
	return scenario{name, stream, frames, func(c *client) (time.Duration, error) { return c.up(frames, size) }}
}
