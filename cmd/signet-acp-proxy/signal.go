package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilTold returns a context that ends when a signal tells us to end. A broken pipe does not: a browser that stops
// loading a page, and a hook that does not read its input, cause SIGPIPE too.
func untilTold(parent context.Context) (ctx context.Context, stop func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(parent, endSignals...)
	return ctx, func() {
		signal.Stop(pipes)
		cancel()
	}
}
