//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hangupSignal is what a closing terminal sends.
const hangupSignal = unix.SIGHUP

// endSignals are the signals that are handled. They are not ignored, because the harness would then ignore them, too.
var endSignals = []os.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGPIPE}
