package telemetry

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// The bucket boundaries that OpenTelemetry's conventions for gen_ai advise: tokens and seconds.
var (
	tokenBounds = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	timeBounds  = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

// Meters sum up in histograms what the spans say turn by turn.
type meters struct {
	tokens, durations map[meter]*point
	first, last       time.Time
}

// A meter identifies a histogram: the harness, and input or output for tokens.
type meter struct{ harness, tokens string }

func newMeters() *meters {
	return &meters{tokens: map[meter]*point{}, durations: map[meter]*point{}}
}

func (m *meters) count(v correlation.EndedTurn, r Report) {
	if m.first.IsZero() || v.Started.Before(m.first) {
		m.first = v.Started
	}
	if v.Ended.After(m.last) {
		m.last = v.Ended
	}
	add(m.durations, meter{harness: v.Harness}, timeBounds, v.Ended.Sub(v.Started).Seconds())
	if r.Input != nil {
		add(m.tokens, meter{v.Harness, "input"}, tokenBounds, float64(*r.Input))
	}
	if r.Output != nil {
		add(m.tokens, meter{v.Harness, "output"}, tokenBounds, float64(*r.Output))
	}
}

func add(points map[meter]*point, of meter, bounds []float64, v float64) {
	p := points[of]
	if p == nil {
		p = &point{
			Bounds: bounds,
			Counts: make([]integer, len(bounds)+1),
			Attributes: attributes(
				"gen_ai.operation.name", "invoke_agent", "gen_ai.provider.name", provider(of.harness),
				"gen_ai.agent.name", of.harness, "gen_ai.token.type", of.tokens,
			),
		}
		points[of] = p
	}
	p.Count++
	p.Sum += v
	p.Counts[sort.SearchFloat64s(bounds, v)]++
}

func (m *meters) metrics() []metric {
	var all []metric
	for _, one := range []struct {
		metric
		points map[meter]*point
	}{
		{metric{Name: "gen_ai.client.token.usage", Unit: "{token}", Description: "Tokens of a turn, as the agent reports them."}, m.tokens},
		{metric{Name: "gen_ai.client.operation.duration", Unit: "s", Description: "From a prompt to its response."}, m.durations},
	} {
		names := make([]meter, 0, len(one.points))
		for name := range one.points {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b meter) int {
			return cmp.Or(cmp.Compare(a.harness, b.harness), cmp.Compare(a.tokens, b.tokens))
		})
		one.Histogram.Temporality = cumulative
		for _, name := range names {
			p := *one.points[name]
			p.Start, p.At = nano{m.first}, nano{m.last}
			one.Histogram.Points = append(one.Histogram.Points, p)
		}
		if len(names) > 0 {
			all = append(all, one.metric)
		}
	}
	return all
}
