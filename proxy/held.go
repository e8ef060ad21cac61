package proxy

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// release waits for a held prompt's context, and returns the prompt with the block in front, or as the client sent it.
func (u *up) release(p *session.Held, line []byte) [][]byte {
	parts, in := [][]byte{line}, (*session.Injection)(nil)
	u.talk.Do(func(c *session.Connection) { parts, in = c.Release(p) })
	if s := p.Session; in != nil || !s.Known().Off {
		log := u.o.Log.Info().Str("session", s.Label()).Dur("held", time.Since(p.Read))
		if in != nil {
			log = log.Str("kind", in.Kind).Str("source", in.Source).Int("bytes", in.Bytes)
		}
		log.Bool("injected", in != nil).Msg("prompt")
	}
	if len(line) > largePrompt {
		u.tasks.run("giving memory back", u.giveBack)
	}
	return parts
}

// giveBack returns the memory of a large prompt to the system; the runtime would keep it for minutes. It tries again
// while the harness is still reading the prompt, or its words are still to be recorded.
func (u *up) giveBack() {
	var stats runtime.MemStats
	for after := giveBackAfter; after <= giveBackLast; after *= 2 {
		timer := time.NewTimer(after)
		select {
		case <-timer.C:
		case <-u.ctx.Done():
			timer.Stop()
			return
		}
		debug.FreeOSMemory()
		if runtime.ReadMemStats(&stats); stats.HeapAlloc < largeHeap {
			return
		}
	}
}

const (
	giveBackAfter = time.Second
	giveBackLast  = 32 * time.Second
	largeHeap     = 8 << 20 // bytes: an idle relay has 3 MB
)
