package telemetry

import "time"

// An Export says what of the turns is exported as OTLP.
type Export struct {
	Since    time.Time // turns that began since then; zero: all
	WithText bool      // with the text of turns and of injections
	Version  string    // of this program
}
