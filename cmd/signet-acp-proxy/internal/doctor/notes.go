package doctor

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/notes"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// notesAge is how old a note's failure may be that is named.
const notesAge = 3 * 24 * time.Hour

// notes says whether agents note their sessions, and why the last of them did not.
func (e *examination) notes(ctx context.Context) []finding {
	if e.c.Notes != "agent" {
		return nil
	}
	if err := notes.Refused(); err != nil {
		return problem("set notes: off, or use a newer kernel", "%v", err)
	}
	db, err := migrations.Look(e.c.DB)
	if err != nil {
		return fine("agents write notes of their sessions; none yet")
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	all, err := correlation.New(db, correlation.Options{}).Book().Notings(ctx,
		correlation.Scope{Since: time.Now().Add(-notesAge)})
	if err != nil {
		return nil // the check of the database says why
	}
	return notesFinding(all)
}

func notesFinding(all []correlation.Noting) []finding {
	var sum telemetry.Notes
	var failed []correlation.Noting
	for _, n := range all {
		if sum.Add(n); n.Error != "" {
			failed = append(failed, n)
		}
	}
	if len(failed) == 0 {
		if sum.Asked == 0 {
			return fine("agents write notes of their sessions; none within 3 days")
		}
		return fine("within 3 days, %s", &sum)
	}
	last := failed[len(failed)-1]
	return problem("signet-acp-proxy notes run SESSION tries it now",
		"%s of %d failed within 3 days, the last %s: %s", term.Count(len(failed), "note"), len(all),
		term.Local(last.Began), last.Error)
}
