package telemetry

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// OTLP as JSON, as far as it is written here (opentelemetry-proto, "JSON Protobuf Encoding"): ids are hexadecimal,
// 64-bit numbers are strings. The generated types would add 400 KB of tables to the program; a test decodes what is
// written with them.
type (
	otlp struct {
		Spans   []resourceSpans   `json:"resourceSpans,omitempty"`
		Metrics []resourceMetrics `json:"resourceMetrics,omitempty"`
	}
	resourceSpans struct {
		Resource resource     `json:"resource"`
		Scopes   []scopeSpans `json:"scopeSpans"`
	}
	resourceMetrics struct {
		Resource resource       `json:"resource"`
		Scopes   []scopeMetrics `json:"scopeMetrics"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scopeMetrics struct {
		Scope   scope    `json:"scope"`
		Metrics []metric `json:"metrics"`
	}

	span struct {
		TraceID    hexadecimal `json:"traceId"`
		SpanID     hexadecimal `json:"spanId"`
		ParentID   hexadecimal `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      nano        `json:"startTimeUnixNano"`
		End        nano        `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes"`
		Events     []spanEvent `json:"events,omitempty"`
		Status     *status     `json:"status,omitempty"`
	}
	spanEvent struct {
		At         nano        `json:"timeUnixNano"`
		Name       string      `json:"name"`
		Attributes []attribute `json:"attributes"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}

	metric struct {
		Name        string    `json:"name"`
		Description string    `json:"description"`
		Unit        string    `json:"unit"`
		Histogram   histogram `json:"histogram"`
	}
	histogram struct {
		Points      []point `json:"dataPoints"`
		Temporality int     `json:"aggregationTemporality"`
	}
	point struct {
		Attributes []attribute `json:"attributes"`
		Start      nano        `json:"startTimeUnixNano"`
		At         nano        `json:"timeUnixNano"`
		Count      integer     `json:"count"`
		Sum        float64     `json:"sum"`
		Counts     []integer   `json:"bucketCounts"`
		Bounds     []float64   `json:"explicitBounds"`
	}

	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		Text    *string  `json:"stringValue,omitempty"`
		Integer *integer `json:"intValue,omitempty"`
		Double  *float64 `json:"doubleValue,omitempty"`
		Array   *array   `json:"arrayValue,omitempty"`
	}
	array struct {
		Values []value `json:"values"`
	}

	hexadecimal []byte
	nano        struct{ time.Time }
	integer     int64
)

const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
	cumulative   = 2
)

// MarshalText is for encoding/json.
func (h hexadecimal) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// MarshalJSON is for encoding/json.
func (n nano) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatInt(n.UnixNano(), 10)) }

// MarshalJSON is for encoding/json.
func (i integer) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatInt(int64(i), 10)) }

// attributes makes attributes of names and values that alternate. Empty strings and nil are left out.
func attributes(pairs ...any) []attribute {
	all := []attribute{}
	for i := 0; i < len(pairs); i += 2 {
		var v value
		switch given := pairs[i+1].(type) {
		case string:
			if given == "" {
				continue
			}
			v.Text = &given
		case int64:
			n := integer(given)
			v.Integer = &n
		case *int64:
			if given == nil {
				continue
			}
			n := integer(*given)
			v.Integer = &n
		case float64:
			v.Double = &given
		case []string:
			v.Array = &array{}
			for _, text := range given {
				v.Array.Values = append(v.Array.Values, value{Text: &text})
			}
		}
		all = append(all, attribute{pairs[i].(string), v})
	}
	return all
}
