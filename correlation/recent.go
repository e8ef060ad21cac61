package correlation

import (
	"context"
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What was said lately, for a page that shows as much of it as it has room for.

// An Excerpt is a turn with the beginnings of its texts, and how many bytes these have in all.
type Excerpt struct {
	Turn
	UserSize, AssistantSize int
}

// NewestTurns calls do with at most so many turns of the sessions in scope, newest first, with at most text characters
// of the prompt and of the answer.
func (s Book) NewestTurns(ctx context.Context, in Scope, text, limit int, do func(Excerpt)) error {
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var e Excerpt
		var started, ended int64
		var tools []byte
		err := row.Scan(&e.ID, &e.Session, &started, &ended, &e.Stop, &e.Code, &e.Truncated, &tools, &e.User,
			&e.UserSize, &e.Assistant, &e.AssistantSize, &e.Delegation)
		if err == nil {
			err = json.Unmarshal(tools, &e.Tools)
		}
		e.Started, e.Ended = sqlite.Unstamp(started), sqlite.Unstamp(ended)
		do(e)
		return err
	}, `SELECT id, session, started, ended, stop, code, truncated, tools, substr(user, 1, ?2), octet_length(user),
		substr(answer, 1, ?2), octet_length(answer), delegation
		FROM (SELECT *, replace(assistant, '`+chars.ToolMark+`', '') AS answer FROM turns WHERE `+in.where("session")+`)
		ORDER BY `+in.started()+` DESC, id DESC LIMIT ?3`, in.sessions(), text, limit)
	return sqlite.While("reading turns", err)
}

// SessionsIn returns the sessions in scope. Turns counts their own alone.
func (s Book) SessionsIn(ctx context.Context, in Scope) ([]Session, error) {
	all, err := s.list(ctx, ownTurns, `WHERE `+in.where("id"), in.sessions())
	return all, sqlite.While("reading sessions", err)
}

// ConversationsIn returns the sessions in scope. Turns counts those of the sessions that each continues, too.
func (s Book) ConversationsIn(ctx context.Context, in Scope) ([]Session, error) {
	all, err := s.list(ctx, conversationTurns, `WHERE `+in.where("id"), in.sessions())
	return all, sqlite.While("reading sessions", err)
}

// KeysIn returns the sessions in scope by all keys that they have had.
func (s Book) KeysIn(ctx context.Context, in Scope) (map[string]int64, error) {
	return s.keys(ctx, in.where("session"), in.sessions())
}

// SessionsByKey returns the sessions that have or had some keys.
func (s Book) SessionsByKey(ctx context.Context, keys []string) (map[string]int64, error) {
	return s.keys(ctx, `key IN (SELECT value FROM json_each(?1))`, sqlite.List(keys))
}

func (s Book) keys(ctx context.Context, where, arg string) (map[string]int64, error) {
	keys, err := sqlite.Pairs[string, int64](ctx, s.db, `SELECT key, session FROM session_keys
		WHERE session IS NOT NULL AND `+where, arg)
	return keys, sqlite.While("reading keys", err)
}

// InjectionsIn calls do with at most so many insertions into the sessions in scope (-1: all), newest first, with at
// most text characters of each.
func (s Book) InjectionsIn(ctx context.Context, in Scope, text, limit int, do func(Injection)) error {
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		one, err := scanInjection(row)
		do(one)
		return err
	}, `SELECT `+injectionColumns+`, substr(text, 1, ?2) FROM injections WHERE `+in.where("session")+`
		ORDER BY id DESC LIMIT ?3`, in.sessions(), text, limit)
	return sqlite.While("reading what was inserted", err)
}

// Totals returns how many turns and sessions there are.
func (s Book) Totals(ctx context.Context) (turns, sessions int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM sessions)`).
		Scan(&turns, &sessions)
	return turns, sessions, sqlite.While("counting turns", err)
}

// A Cost is what memory has added to prompts.
type Cost struct {
	Prompts      int
	Bytes        int64
	Median, Most int64 // milliseconds for which these prompts were held
}

// InsertionCost returns what all injections have cost that were not refused.
func (s Book) InsertionCost(ctx context.Context) (c Cost, err error) {
	err = s.db.QueryRowContext(ctx, `WITH told AS (SELECT bytes, held_ms FROM injections WHERE outcome <> ?)
		SELECT count(*), coalesce(sum(bytes), 0), coalesce(max(held_ms), 0), coalesce((SELECT held_ms FROM told
			ORDER BY held_ms LIMIT 1 OFFSET (SELECT count(*) / 2 FROM told)), 0) FROM told`, WasRefused).
		Scan(&c.Prompts, &c.Bytes, &c.Most, &c.Median)
	return c, sqlite.While("reading what was inserted", err)
}

// A Pulse says how far sessions have come, to be compared with a later one.
type Pulse struct {
	Sessions string  // differs where there are more or fewer
	Event    int64   // the id of the last one
	Open     []int64 // sessions with a turn under way
	Told     []int64 // sessions that have had an event since the pulse before
}

// Pulse returns how far sessions have come since an event.
func (s Book) Pulse(ctx context.Context, after int64) (p Pulse, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT (SELECT count(*) || ' ' || coalesce(max(id), 0) FROM sessions),
		(SELECT coalesce(max(id), 0) FROM events)`).Scan(&p.Sessions, &p.Event)
	if err == nil {
		p.Open, err = sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT DISTINCT session FROM turns WHERE ended = 0`)
	}
	if err == nil {
		p.Told, err = sqlite.Collect(ctx, s.db, sqlite.One[int64],
			`SELECT DISTINCT session FROM events WHERE id > ? AND session IS NOT NULL`, after)
	}
	return p, sqlite.While("looking for what is new", err)
}
