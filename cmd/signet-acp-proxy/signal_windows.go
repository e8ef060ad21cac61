package main

import (
	"os"
	"syscall"
)

// hangupSignal is what closing a console window counts as.
const hangupSignal = syscall.SIGHUP

// endSignals tell us to end.
var endSignals = []os.Signal{syscall.SIGTERM, syscall.SIGINT}
