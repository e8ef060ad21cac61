package daemontest

import "time"

// A FaultKind is a way to fail.
type FaultKind int

const (
	// BlackHole takes the request and never answers.
	BlackHole FaultKind = iota
	// Slow answers right after Delay, having done the work first.
	Slow
	// Held answers right once Heal is called, having done the work first.
	Held
	// Status answers Code with the daemon's text for it.
	Status
	// Garbage answers 200 with what is no JSON.
	Garbage
	// Huge answers 200 with 100 MB of JSON.
	Huge
	// Drip answers 200 and then a byte every Delay, without end.
	Drip
	// Drop reads the request whole and closes the connection.
	Drop
	// DropAfter does the work, then closes the connection without answering.
	DropAfter
)

// A Fault is put on requests whose path begins with Path.
type Fault struct {
	Path  string // "" is every path, /health too
	Kind  FaultKind
	Delay time.Duration // of Slow and Drip; zero: 10 ms
	Code  int           // of Status; zero: 500
	Times int           // how often; zero: until Heal

	healed chan struct{} // closed by Heal
}
