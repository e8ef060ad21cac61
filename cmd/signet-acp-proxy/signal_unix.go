//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hangupSignal is what a closing terminal sends.
const hangupSignal = unix.SIGHUP

// endSignals are the signals that are taken rather than died of. They are
// taken by a handler, not ignored: what we ignore the harness would ignore too.
var endSignals = []os.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGPIPE}
