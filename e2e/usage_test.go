package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// A used is what the command usage sums up, as far as harnesses report it.
type used struct {
	Sessions, Turns, ReportedTurns int
	InputTokens, OutputTokens      *int64
	Cost                           *float64
	Currency                       *string
	Reported                       bool
}

// compareUsage compares what usage sums up of a trace that was played with what was on the wire.
func (b *box) compareUsage(a *txtar.Archive) {
	b.t.Helper()
	var rows []used
	b.wait("all that was said, in the database", func() bool { // a command takes a second for that, and no more
		rows = nil
		must(b, json.Unmarshal([]byte(b.run(proxyBin, "usage", "--by", "harness", "--json")), &rows))
		left, err := filepath.Glob(filepath.Join(b.Signet, "acp", "live", "*.events"))
		must(b, err)
		return len(left) == 0
	})
	if len(rows) != 1 {
		b.t.Fatalf("%d harnesses used something: %+v", len(rows), rows)
	}
	rows[0].Sessions, rows[0].Turns = 0, 0
	if rows[0].Cost != nil {
		*rows[0].Cost = math.Round(*rows[0].Cost*1e9) / 1e9
	}
	want := onTheWire(b.t, a)
	if diff := cmp.Diff(want, rows[0]); diff != "" {
		b.t.Errorf("used (-on the wire +summed up):\n%s", diff)
	}
}

// onTheWire reads off a trace what a harness reported: copilot reports what its process has used so far, the others
// each turn; and a cost is what the process has cost so far.
func onTheWire(t *testing.T, a *txtar.Archive) (all used) {
	t.Helper()
	type tokens struct {
		InputTokens, OutputTokens *int64
	}
	add := func(to **int64, n int64) {
		if *to == nil {
			*to = new(int64)
		}
		**to += n
	}
	for _, process := range processes(a) {
		var last tokens
		var cost *float64
		for _, section := range process {
			if section.Name != "down" {
				continue
			}
			for line := range strings.Lines(string(section.Data)) {
				var frame struct {
					Result struct {
						Usage *tokens
						Meta  struct {
							Quota struct {
								Count struct {
									Input  *int64 `json:"input_tokens"`
									Output *int64 `json:"output_tokens"`
								} `json:"token_count"`
							}
						} `json:"_meta"`
					}
					Params struct {
						Update struct {
							SessionUpdate string
							Cost          *struct {
								Amount   float64
								Currency string
							}
						}
					}
				}
				if json.Unmarshal([]byte(line), &frame) != nil {
					continue // a line in which our block stands
				}
				if c := frame.Params.Update.Cost; c != nil {
					cost, all.Currency, all.Reported = &c.Amount, &c.Currency, true
				}
				turn := frame.Result.Usage
				if count := frame.Result.Meta.Quota.Count; turn == nil && count.Input != nil {
					turn = &tokens{count.Input, count.Output}
				}
				if turn == nil {
					continue
				}
				all.ReportedTurns, all.Reported = all.ReportedTurns+1, true
				if strings.Contains(string(a.Comment), "copilot") {
					last = *turn
					continue
				}
				add(&all.InputTokens, *turn.InputTokens)
				add(&all.OutputTokens, *turn.OutputTokens)
			}
		}
		if last.InputTokens != nil {
			add(&all.InputTokens, *last.InputTokens)
			add(&all.OutputTokens, *last.OutputTokens)
		}
		if cost != nil {
			if all.Cost == nil {
				all.Cost = new(float64)
			}
			*all.Cost = math.Round((*all.Cost+*cost)*1e9) / 1e9
		}
	}
	return all
}

// A follower is told of what happens while it looks on.
func TestEventsFollow(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.connect(embedded, echoBin)
	id := c.talk("My own words.")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	follower := b.Command(ctx, nil, proxyBin, "events", id, "--follow", "--json")
	out, err := follower.StdoutPipe()
	must(b, err)
	must(b, follower.Start())
	lines := bufio.NewScanner(out)
	until := func(turn int) {
		for lines.Scan() {
			var e struct {
				Kind string
				Turn int
			}
			must(b, json.Unmarshal(lines.Bytes(), &e))
			if e.Kind == "turn_ended" && e.Turn == turn {
				return
			}
		}
		t.Fatalf("turn %d did not end: %v", turn, lines.Err())
	}
	until(1)
	c.say(id, "More words.")
	until(2)
	must(b, follower.Process.Kill())
	_ = follower.Wait()
	c.end()
}
