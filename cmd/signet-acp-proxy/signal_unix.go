//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hangupSignal is what a closing terminal sends.
const hangupSignal = unix.SIGHUP

// endSignals tell us to end.
var endSignals = []os.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT}
