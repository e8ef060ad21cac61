package telemetry

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

const (
	scopeName = "github.com/Signet-AI/signet-acp-proxy"
	postTime  = 30 * time.Second // for one request
)

// An Export says what of the turns is exported as OTLP.
type Export struct {
	Since    time.Time // turns that began since then; zero: all
	WithText bool      // with the text of turns and of injections
	Version  string    // of this program
}

func (o Export) resource() resource {
	return resource{attributes("service.name", "signet-acp-proxy", "service.version", o.Version)}
}

func (o Export) spans(all []span) []resourceSpans {
	return []resourceSpans{{o.resource(), []scopeSpans{{scope{scopeName, o.Version}, all}}}}
}

func (o Export) metrics(all []metric) []resourceMetrics {
	return []resourceMetrics{{o.resource(), []scopeMetrics{{scope{scopeName, o.Version}, all}}}}
}

// Write writes spans and metrics as one object of OTLP JSON, on one line, and returns how many turns are in it.
func (o Export) Write(ctx context.Context, store *correlation.Store, w io.Writer) (turns int, err error) {
	b := bufio.NewWriter(w)
	b.WriteString(`{"resourceSpans":[`)
	begun := false
	metrics, turns, err := o.each(ctx, store, func(spans []span) error {
		text, err := json.Marshal(o.spans(spans)[0])
		if begun {
			b.WriteByte(',')
		}
		begun = true
		b.Write(chars.EscapeJSON(text))
		return err
	})
	if err != nil {
		return turns, err
	}
	text, err := json.Marshal(metrics)
	if err != nil {
		return turns, err
	}
	fmt.Fprintf(b, `],"resourceMetrics":%s}`+"\n", chars.EscapeJSON(text))
	return turns, b.Flush()
}

// Post sends spans and metrics as OTLP JSON over HTTP, to an endpoint's address with /v1/traces and /v1/metrics. It
// returns how many turns were sent, also after an error. A request takes 30 s at most.
func (o Export) Post(ctx context.Context, store *correlation.Store, endpoint string) (turns int, err error) {
	base, err := url.Parse(endpoint)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return 0, fmt.Errorf("%q is no endpoint: give an address such as http://127.0.0.1:4318", endpoint)
	}
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/v1/traces")
	client := &http.Client{Timeout: postTime, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect could send the conversation elsewhere
	}}
	metrics, turns, err := o.each(ctx, store, func(spans []span) error {
		return post(ctx, client, base.JoinPath("v1", "traces"), otlp{Spans: o.spans(spans)})
	})
	if err != nil || len(metrics) == 0 {
		return turns, err
	}
	return turns, post(ctx, client, base.JoinPath("v1", "metrics"), otlp{Metrics: metrics})
}

// each calls write with the spans of a batch of turns after the other, and returns the metrics of all turns and how
// many these were.
func (o Export) each(
	ctx context.Context, store *correlation.Store, write func([]span) error,
) ([]resourceMetrics, int, error) {
	t, err := newTracer(ctx, store, o)
	if err != nil {
		return nil, 0, err
	}
	m, n := newMeters(), 0
	for {
		spans, turns, err := t.next(ctx)
		if err != nil {
			return nil, n, err
		}
		if len(turns) == 0 {
			break
		}
		for _, v := range turns {
			m.count(v, t.reports[v.ID])
		}
		if err := write(spans); err != nil {
			return nil, n, err
		}
		n += len(turns)
	}
	metrics := []resourceMetrics{}
	if all := m.metrics(); len(all) > 0 {
		metrics = o.metrics(all)
	}
	return metrics, n, nil
}

func post(ctx context.Context, client *http.Client, to *url.URL, body otlp) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		return fmt.Errorf("%s answered %s: %s", to, answer.Status, strings.TrimSpace(string(said)))
	}
	return nil
}
