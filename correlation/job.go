package correlation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// askAgain is how long after a job was asked about (askAfter), and so on, it is asked about again, while it is pending.
const askAgain = time.Hour

// ToAsk returns debts with jobs that the daemon is to be asked about now; like debts, they are given up after 14 days.
func (s Debts) ToAsk(ctx context.Context) ([]Debt, error) {
	return collect(ctx, s.db, "looking for jobs", scanDebt, `SELECT `+debtColumns+` FROM debts d
		WHERE d.ask > 0 AND d.ask <= ? AND d.owed > ? ORDER BY d.ask`, sqlite.Stamp(s.now()),
		sqlite.Stamp(s.now().Add(-giveUp)))
}

// NoteJobs notes what the daemon has said of a debt's jobs. While one is pending it is asked again.
func (s Debts) NoteJobs(ctx context.Context, d Debt, jobs []Job) error {
	var ask int64
	now := s.now()
	for _, j := range jobs {
		if j.State == JobPending {
			ask = sqlite.Stamp(now.Add(askAgain))
		}
	}
	text, _ := json.Marshal(jobs) // texts and numbers
	ctx, cancel := ownTime(ctx)
	defer cancel()
	return s.change(ctx, "noting jobs", `UPDATE debts SET jobs = ?, ask = ? WHERE id = ?`, string(text), ask, d.ID)
}

// JobsIn returns the jobs of the sessions in scope, oldest first.
func (s Book) JobsIn(ctx context.Context, in Scope) (map[int64][]Job, error) {
	all := map[int64][]Job{}
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var session int64
		var text []byte
		var jobs []Job
		err := row.Scan(&session, &text)
		if err == nil {
			err = json.Unmarshal(text, &jobs)
		}
		all[session] = append(all[session], jobs...)
		return err
	}, `SELECT session, jobs FROM debts WHERE jobs <> '[]' AND `+in.where("session")+` ORDER BY id`, in.sessions())
	return all, sqlite.While("reading jobs", err)
}

// Unextracted counts the turns that the daemon has had and made no memory of: dropped as too short, or the job died or
// was empty.
func (s Book) Unextracted(ctx context.Context) (int, error) {
	return value[int](ctx, s.db, "counting what was not extracted", `SELECT count(*) FROM turns t
		JOIN debts d ON d.id = t.daemon_delivery WHERE (d.state = 'dropped' OR EXISTS (
			SELECT 1 FROM json_each(d.jobs) j, json_each(j.value, '$.turns') n
			WHERE n.value = t.id AND j.value ->> 'state' IN ('dead', 'empty')))
		AND EXISTS (SELECT 1 FROM debts WHERE state = 'dropped' OR jobs <> '[]') -- else no turn is looked at`)
}

// askAfter is how long after a part was taken its job is asked about: a dead one has tried three times by then.
const askAfter = 5 * time.Minute

// addJob notes the job of a part that was taken, if the daemon was given one.
func (e entry) addJob(job Job, turns []int64) error {
	if job.Key == "" {
		return nil
	}
	job.Turns, job.State = turns, JobPending
	text, err := json.Marshal(job)
	if err != nil {
		return err
	}
	return e.exec(`UPDATE debts SET jobs = json_insert(jobs, '$[#]', json(?)), ask = ? WHERE id = ?`, string(text),
		sqlite.Stamp(e.now.Add(askAfter)), e.d.ID)
}
