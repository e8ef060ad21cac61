package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// Signet is the Signet daemon as a worker sees it.
type Signet struct{ *signet.Client }

var _ Daemon = Signet{}

// duplicateWindow is how long a daemon from 0.145 on refuses a second end of a session (docs/facts/signet-daemon.md,
// "The end of a session").
const duplicateWindow = 30*time.Minute + time.Second

// End implements Daemon. Within duplicateWindow the daemon refuses a second end, unless it is told that the key goes
// on, which it does: the turns are new. Only if these turns were posted before without an answer, they have been taken
// already.
func (s Signet) End(ctx context.Context, e signet.End) (Reply, error) {
	got, err := s.Client.End(ctx, e)
	if err == nil && got.Duplicate {
		if e.Again && chars.Units(e.Text) >= minTranscript {
			return Reply{Note: "taken before, when no answer came"}, nil
		}
		if e.Again { // taken before, and dropped as too short
			return notQueued(e, true), nil
		}
		if claim := s.Claim(ctx, e.Session); claim == nil {
			got, err = s.Client.End(ctx, e)
		}
	}
	switch {
	case err != nil:
		return Reply{}, err
	case got.Bypassed:
		return Reply{Off: true}, nil
	case got.Queued:
		return s.queued(ctx, e, got), nil
	case got.Duplicate:
		return Reply{Note: "skipped: ended a short while ago, by " + got.EndedBy, Later: true,
			After: duplicateWindow}, nil
	case got.Skipped && got.ClaimedBy != "":
		return Reply{Note: "skipped: claimed by " + got.ClaimedBy, Later: true}, nil
	case got.Skipped:
		return Reply{Note: "skipped", Later: true}, nil
	case got.Dropped:
		return notQueued(e, got.Kept), nil
	}
	return Reply{Note: "ended"}, nil
}

// queued asks what became of a transcript that a daemon has queued, where it can be asked. A job that has failed holds
// nothing; one that is not found, or still waits, is believed.
func (s Signet) queued(ctx context.Context, e signet.End, got signet.EndReply) Reply {
	note := "queued " + got.JobID
	if got.CaptureID != "" {
		if status, err := s.Captured(ctx, got.CaptureID, e.Session.AgentID); err == nil && status != "" {
			note += ": " + status
			if slices.Contains(failedCaptures, status) {
				return Reply{Note: note + ", so that the daemon does not have it", Later: true}
			}
		}
	}
	return Reply{Note: note + temporaryNote(e.Session.Project), Job: got.JobID}
}

// Became implements Daemon. A key with a summary was extracted. Of one without, the counts of jobs tell: some wait,
// some have died, or none has, so that this one was not worth a summary. Later daemons make no summaries, and tell of
// each capture.
func (s Signet) Became(ctx context.Context, who memory.Session, jobs []correlation.Job) ([]correlation.Job, error) {
	health, err := s.Present(ctx)
	if err != nil {
		return nil, err
	}
	others := correlation.JobUnknown // those without a summary
	made, err := s.Summarised(ctx, who.AgentID)
	if err == nil {
		var p signet.Pipeline
		if p, err = s.Pipeline(ctx, who.AgentID); err == nil {
			others = rest(p)
		}
	}
	if err != nil && !tellsNothing(err) {
		return nil, err
	}
	jobs = slices.Clone(jobs)
	for i, j := range jobs {
		switch {
		case made[j.Key]:
			jobs[i].State = correlation.JobExtracted
		case j.State == correlation.JobExtracted: // it stays, also if it is not among the newest any more
		case health.Newer && j.ID == "": // it was taken, and its answer lost
			jobs[i].State = correlation.JobUnknown
		case health.Newer:
			status, err := s.Captured(ctx, j.ID, who.AgentID)
			if err != nil && !tellsNothing(err) {
				return nil, err
			}
			jobs[i].State = captureState(status)
		default:
			jobs[i].State = others
		}
	}
	return jobs, nil
}

// tellsNothing reports whether a daemon has answered that it does not know what it was asked.
func tellsNothing(err error) bool {
	var refused *signet.StatusError
	return errors.As(err, &refused) && refused.Code < 500
}

func rest(p signet.Pipeline) correlation.JobState {
	switch {
	case p.Waiting > 0:
		return correlation.JobPending
	case p.Dead > 0:
		return correlation.JobDead
	}
	return correlation.JobEmpty
}

func captureState(status string) correlation.JobState {
	switch {
	case status == "completed":
		return correlation.JobExtracted
	case slices.Contains(failedCaptures, status):
		return correlation.JobDead
	case status == "":
		return correlation.JobUnknown
	}
	return correlation.JobPending
}

// failedCaptures are the states of a capture that holds no transcript.
var failedCaptures = []string{"failed", "dead", "error"}

// KeptByDaemon is why a transcript was dropped that the daemon has kept all the same.
const KeptByDaemon = "kept by the daemon, too short to summarise"

// minTranscript is how many characters a transcript needs for a daemon to make a job of it, in UTF-16 units.
const minTranscript = 500

// notQueued sorts a transcript that a daemon makes no job of, for which it gives no reason. One that is long enough is
// not lost: the daemon has not found it, or makes no jobs now.
func notQueued(e signet.End, kept bool) Reply {
	switch size := chars.Units(e.Text); {
	case size < minTranscript && kept:
		return Reply{Note: "kept, not queued", Dropped: true, Why: KeptByDaemon}
	case size < minTranscript:
		return Reply{Note: "not queued", Dropped: true,
			Why: fmt.Sprintf("under %d characters (%d)", minTranscript, size)}
	case kept && temporaryNote(e.Session.Project) != "":
		return Reply{Note: "kept, not queued" + temporaryNote(e.Session.Project)}
	}
	return Reply{Note: "not queued: the daemon cannot open our files, as in a container or on another machine, " +
		"and reads no text in their place (0.58.1), or its pipeline is off", Later: true, After: time.Hour}
}

// temporaryNote says of a project in a temp folder that the daemon makes no summary of it
// (docs/facts/signet-daemon.md).
func temporaryNote(project string) string {
	temporary := filepath.Clean(os.TempDir())
	if project != temporary && !strings.HasPrefix(project, temporary+string(filepath.Separator)) {
		return ""
	}
	return ", and not summarised: the project is a temporary one"
}

// Compacted implements Daemon.
func (s Signet) Compacted(ctx context.Context, of memory.Session, summary string) (Reply, error) {
	id, err := s.CompactionComplete(ctx, of, summary)
	return Reply{Note: "kept " + id}, err
}

// Remember implements Daemon. It searches for the memory first: the daemon may have taken it from the tool, too late
// for us to notice, or from a post without an answer.
func (s Signet) Remember(ctx context.Context, m signet.Note) (Reply, error) {
	there, err := s.remembers(ctx, m.Content)
	if err != nil {
		return Reply{}, err
	}
	if there {
		return Reply{Note: "there already"}, nil
	}
	_, err = s.Client.Remember(ctx, m)
	var refused *signet.StatusError
	if errors.As(err, &refused) && refused.Code == http.StatusBadRequest {
		return Reply{Dropped: true, Why: refused.Error()}, nil
	}
	return Reply{Note: "remembered"}, err
}

// remembers reports whether the daemon has a memory with exactly this text.
func (s Signet) remembers(ctx context.Context, content string) (bool, error) {
	found, err := s.Search(ctx, signet.Query{Query: chars.Cut(content, querySize), Limit: 20})
	if err != nil {
		return false, err
	}
	var reply struct{ Results []struct{ Content string } }
	if json.Unmarshal(found, &reply) != nil {
		return false, nil
	}
	return slices.ContainsFunc(reply.Results, func(m struct{ Content string }) bool {
		return chars.OneLine(m.Content) == chars.OneLine(content)
	}), nil
}

// querySize is how much of a memory is searched for, in bytes: daemons search by the first 200 characters.
const querySize = 200
