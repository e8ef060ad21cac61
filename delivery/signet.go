package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// Signet is the Signet daemon as a worker sees it.
type Signet struct {
	*signet.Client
	Trusted bool // a person named the daemon: it may serve another folder
	// Whole is the version in which the daemon said that it reads a session's transcript whole each time; "": it has
	// not said so.
	Whole string
}

var _ Daemon = Signet{}

// duplicateWindow is how long a daemon from 0.145 on refuses a second end of a session (docs/facts/signet-daemon.md,
// "The end of a session").
const duplicateWindow = 30*time.Minute + time.Second

// Health implements Daemon.
func (s Signet) Health(ctx context.Context) (whole bool, err error) {
	h, err := s.Client.Health(ctx)
	switch {
	case err != nil || s.Trusted:
	case h.OtherUser:
		err = signet.ErrOtherUser
	case !h.Ours:
		err = signet.ErrNotOurs
	}
	return s.Whole != "" && h.Version == s.Whole, err
}

// End implements Daemon. Within duplicateWindow the daemon refuses a second end, unless it is told that the key goes
// on, which it does: the turns are new. Only if these turns were posted before without an answer, they have been taken
// already.
func (s Signet) End(ctx context.Context, e End) (Reply, error) {
	request := signet.EndRequest{Key: e.Key, AgentID: e.AgentID, Cwd: e.Cwd, Reason: e.Reason,
		TranscriptPath: e.File, Transcript: e.Text}
	got, err := s.Client.End(ctx, request)
	if err == nil && got.Duplicate {
		if e.Again {
			return Reply{Note: "taken before, when no answer came"}, nil
		}
		if claim := s.Claim(ctx, memory.Session{Key: e.Key, AgentID: e.AgentID, Cwd: e.Cwd,
			Project: e.Project}); claim == nil {
			got, err = s.Client.End(ctx, request)
		}
	}
	switch {
	case err != nil:
		return Reply{}, unanswered(err)
	case got.Bypassed:
		return Reply{Off: true}, nil
	case got.Queued:
		return Reply{Note: "queued " + got.JobID + s.captured(ctx, got.CaptureID) + temporaryNote(e.Project)}, nil
	case got.Duplicate:
		return Reply{Note: "skipped: ended a short while ago, by " + got.EndedBy, Later: true,
			After: duplicateWindow}, nil
	case got.Skipped && got.ClaimedBy != "":
		return Reply{Note: "skipped: claimed by " + got.ClaimedBy, Later: true}, nil
	case got.Skipped:
		return Reply{Note: "skipped", Later: true}, nil
	case got.Kept:
		return Reply{Note: "kept, not queued", Dropped: true, Why: KeptByDaemon}, nil
	case got.Dropped:
		return Reply{Note: "not queued", Dropped: true}, nil
	}
	return Reply{Note: "ended"}, nil
}

// Checkpoint implements Daemon.
func (s Signet) Checkpoint(ctx context.Context, e End) (Reply, error) {
	job, err := s.Client.Checkpoint(ctx, signet.EndRequest{Key: e.Key, AgentID: e.AgentID, Transcript: e.Text},
		e.Project)
	switch {
	case errors.Is(err, signet.ErrNotOffered):
		return Reply{}, fmt.Errorf("%w: %w", ErrNotOffered, err)
	case err != nil:
		return Reply{}, unanswered(err)
	case job == "":
		return Reply{Note: "so far: nothing new to it"}, nil
	}
	return Reply{Note: "so far: queued " + job}, nil
}

// KeptByDaemon is why a transcript was dropped that the daemon has kept all the same.
const KeptByDaemon = "kept by the daemon, too short to summarise"

// captured asks once what became of a transcript. It is for people to read, so a failure does not matter.
func (s Signet) captured(ctx context.Context, id string) string {
	if id == "" {
		return ""
	}
	status, err := s.Captured(ctx, id)
	if err != nil || status == "" {
		return ""
	}
	return ": " + status
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
func (s Signet) Compacted(ctx context.Context, c Compaction) (Reply, error) {
	id, err := s.CompactionComplete(ctx, signet.Compaction{Key: c.Key, AgentID: c.AgentID,
		Project: c.Project, Summary: c.Summary})
	return Reply{Note: "kept " + id}, unanswered(err)
}

// Remember implements Daemon. It searches for the memory first: the daemon may have taken it from the tool, too late
// for us to notice, or from a post without an answer.
func (s Signet) Remember(ctx context.Context, m Memory) (Reply, error) {
	there, err := s.remembers(ctx, m.Content)
	if err != nil {
		return Reply{}, err
	}
	if there {
		return Reply{Note: "there already"}, nil
	}
	_, err = s.Client.Remember(ctx, signet.Note{Content: m.Content, Type: m.Type, Importance: m.Importance,
		Tags: m.Tags, AgentID: m.AgentID})
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
	for _, m := range reply.Results {
		if strings.Join(strings.Fields(m.Content), " ") == strings.Join(strings.Fields(content), " ") {
			return true, nil
		}
	}
	return false, nil
}

// querySize is how much of a memory is searched for, in bytes: daemons search by the first 200 characters.
const querySize = 200

// unanswered turns the client's ErrNoAnswer into this package's.
func unanswered(err error) error {
	if errors.Is(err, signet.ErrNoAnswer) {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	return err
}
