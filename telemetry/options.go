package telemetry

import "time"

// An Export says what is written for others.
type Export struct {
	Since    time.Time // zero: all
	WithText bool      // what was said and inserted, too
	Version  string    // ours
}
