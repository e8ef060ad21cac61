package signet

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// What became of what a daemon has taken. It tells of no job by itself: it lists the keys that it has made summaries
// of, and counts jobs (docs/facts/signet-daemon.md, "The end of a session").

// maxSummaries is how many of the newest summaries are looked at: a daemon lists no more at once.
const maxSummaries = 200

// Summarised returns the newest keys of an agent of which the daemon has made a summary (GET /api/sessions/summaries).
// It ends with ctx or after 10 s. Errors as of Get: a *StatusError under 500 is a daemon that does not tell.
func (c *Client) Summarised(ctx context.Context, agentID string) (map[string]bool, error) {
	q := url.Values{"depth": {"0"}, "limit": {strconv.Itoa(maxSummaries)}}
	var got struct {
		Summaries []struct {
			SessionKey string `json:"session_key"`
		}
	}
	if err := c.tell(ctx, "/api/sessions/summaries", agentID, q, &got); err != nil {
		return nil, err
	}
	keys := make(map[string]bool, len(got.Summaries))
	for _, s := range got.Summaries {
		keys[s.SessionKey] = true
	}
	return keys, nil
}

// A Pipeline is how a daemon does with what it has taken.
type Pipeline struct {
	Waiting, Done, Dead int    // its jobs
	Why                 string // its last error, one line, where it names one
}

// Pipeline asks how the daemon's jobs do: GET /api/pipeline/status and, from 0.145 on, /api/diagnostics/transcripts. It
// ends with ctx or after 10 s. Errors as of Summarised.
func (c *Client) Pipeline(ctx context.Context, agentID string) (p Pipeline, err error) {
	var status struct {
		Queues struct {
			Summary struct{ Pending, Leased, Processing, Completed, Dead int }
		}
	}
	var transcripts struct {
		Capture struct {
			Pending, Processing, Completed, Failed, Dead int
			LastError                                    string
		}
		Artifacts struct{ FailedSummaries int }
	}
	err = c.tell(ctx, "/api/pipeline/status", agentID, nil, &status)
	if err == nil || refusal(err) != nil {
		captured := c.tell(ctx, "/api/diagnostics/transcripts", agentID, nil, &transcripts)
		if captured == nil {
			err = nil
		}
	}
	jobs, capture := status.Queues.Summary, transcripts.Capture
	return Pipeline{
		Waiting: jobs.Pending + jobs.Leased + jobs.Processing + capture.Pending + capture.Processing,
		Done:    jobs.Completed + capture.Completed,
		Dead:    max(jobs.Dead, transcripts.Artifacts.FailedSummaries) + capture.Failed + capture.Dead,
		Why:     chars.Cut(chars.OneLine(capture.LastError), 200),
	}, err
}

// tell asks the daemon about an agent's things. Errors as of Summarised.
func (c *Client) tell(ctx context.Context, path, agentID string, q url.Values, out any) error {
	if agentID = cmp.Or(agentID, c.opts.AgentID); agentID != "" {
		if q == nil {
			q = url.Values{}
		}
		q.Set("agentId", agentID)
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	reply, err := c.api(ctx, "GET "+path, nil)
	if err == nil && json.Unmarshal(reply, out) != nil {
		err = unavailable(errGarbage)
	}
	return err
}

// Captured asks a newer daemon what became of a transcript of an agent that it took (GET
// /api/hooks/transcript-capture/ID). status is the daemon's own word, "" where it gives none. It ends with ctx or after
// 10 s. Errors as of Summarised.
func (c *Client) Captured(ctx context.Context, id, agentID string) (status string, err error) {
	var got struct{ Status, State string }
	err = c.tell(ctx, "/api/hooks/transcript-capture/"+url.PathEscape(id), agentID, nil, &got)
	return chars.Cut(chars.OneLine(cmp.Or(got.Status, got.State)), 40), err
}
