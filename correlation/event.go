package correlation

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"time"
)

// Events of a session.
type (
	// Opened: the harness has opened a session, new or not. It is the first event with the session's number, and comes
	// again when the client opens the session again. Open.Process is not used.
	Opened struct {
		Session int         `json:"session"`
		Open    OpenSession `json:"open"`
		// the session that it was forked from, in place of ForkOf
		Fork int `json:"fork,omitempty"`
		// the session whose place it takes, in place of ContinueOf
		Continues int `json:"continues,omitempty"`
	}

	// Stepped: a step in the table of states (State.On), which counts if the session is in one of the states in From
	// (nil: in any). A claim is made in the database; what becomes of it is such a step. Those that settle it
	// (Answered, Refused, Failed, Cancelled, Died) count for the process that made it, and find Step.From in it.
	Stepped struct {
		Session int     `json:"session"`
		From    []State `json:"from,omitempty"`
		Step    Step    `json:"event"`
	}

	// Closed: the client has closed or deleted the session. Events that follow are still of the same session.
	Closed struct {
		Session int    `json:"session"`
		Reason  string `json:"reason"`
	}

	// Rekeyed: the session has a new key. Spent, if not empty, is a key in between, with which a session-start was sent
	// whose outcome is not known.
	Rekeyed struct {
		Session int    `json:"session"`
		Key     string `json:"key"`
		Spent   string `json:"spent,omitempty"`
	}

	// RecordKnown: its acpx record.
	RecordKnown struct {
		Session int    `json:"session"`
		Record  string `json:"record"`
	}

	// ParentKnown: the key of the session that it works for.
	ParentKnown struct {
		Session int    `json:"session"`
		Key     string `json:"key"`
	}

	// Titled: the harness has set the session's title. Redacted.
	Titled struct {
		Session int    `json:"session"`
		Title   string `json:"title"`
	}

	// Injected: the identity went in with a system prompt. What goes in with a user's prompt is recorded by
	// Store.Claim.
	Injected struct {
		Session   int       `json:"session"`
		Turn      int       `json:"turn,omitempty"`
		Injection Injection `json:"injection"`
	}

	// Unclaimed: the identity went in with a user's prompt, from a state, because the ledger could not be asked in time
	// (Store.Claim). It counts as a claim, unless another process has made one meanwhile.
	Unclaimed struct {
		Session   int       `json:"session"`
		From      State     `json:"from"`
		Injection Injection `json:"injection"`
	}

	// ContextStored: a context was fetched and is not used yet. It replaces an older one.
	ContextStored struct {
		Session int             `json:"session"`
		Key     string          `json:"key"`
		Fetched time.Time       `json:"fetched"`
		Context json.RawMessage `json:"context"`
	}

	// ContextDropped: the stored context was used, or must not be.
	ContextDropped struct {
		Session int `json:"session"`
	}

	// Compacting: the harness has begun to compact the conversation.
	Compacting struct {
		Session int `json:"session"`
	}

	// Warned: the daemon has something to say to people about the session.
	Warned struct {
		Session int    `json:"session"`
		Text    string `json:"text"` // one line
	}

	// Summarised: the harness has compacted the conversation; Text is its own summary.
	Summarised struct {
		Session int    `json:"session"`
		Text    string `json:"text"`
	}
)

// Events of a turn.
type (
	// TurnBegan: a prompt has left for the harness. The rows of a process's turns are in the order of these events. Key
	// is the session's at that time.
	TurnBegan struct {
		Session int    `json:"session"`
		Turn    int    `json:"turn"`
		Key     string `json:"key,omitempty"`
		Command string `json:"command,omitempty"` // the slash command that the prompt is
		// Delegation is the one that the session works for: an agent says the prompt, not a person.
		Delegation string `json:"delegation,omitempty"`
	}

	// UserSaid: the text of the prompt, or more of the user's (steering). Redacted.
	UserSaid struct {
		Turn int    `json:"turn"`
		Text string `json:"text"`
		Cut  bool   `json:"cut,omitempty"` // some of it is missing
	}

	// AssistantSaid: the next text of the assistant. Redacted.
	AssistantSaid struct {
		Turn    int    `json:"turn"`
		Text    string `json:"text"`
		Skipped int    `json:"skipped,omitempty"` // bytes in front of it that were not kept
	}

	// ToolUsed: a tool call began, or a later report of it came: fields that are empty stay as they were.
	ToolUsed struct {
		Turn int      `json:"turn"`
		Tool ToolCall `json:"tool"`
	}

	// Noted: the harness has put something into the conversation by itself, and filed it under the user's name.
	Noted struct {
		Turn int    `json:"turn"`
		What string `json:"what"` // notification, interruption, …
	}

	// UsageReported: what the harness says was used.
	UsageReported struct {
		Session int   `json:"session"`
		Turn    int   `json:"turn,omitempty"`
		Usage   Usage `json:"usage"`
	}

	// TurnEnded: the prompt's response has come. The event is written, behind the turn's words, before the client has
	// the response. If the process dies, its open turns end without one.
	TurnEnded struct {
		Turn    int    `json:"turn"`
		Stop    string `json:"stop,omitempty"`    // ACP's stopReason
		Code    int    `json:"code,omitempty"`    // of an error response
		Request string `json:"request,omitempty"` // the request's id, as a raw token
		Lost    int    `json:"lost,omitempty"`    // bytes of the turn that were not kept
	}
)

// Events of the process.
type (
	// KeyStarted: a session-start, or another hook by which the daemon takes the session to be live, is being sent
	// with a key.
	KeyStarted struct {
		Key     string `json:"key"`
		AgentID string `json:"agentId,omitempty"`
	}

	// DaemonAnswered: the daemon of a Signet path has answered.
	DaemonAnswered struct {
		SignetPath string `json:"signetPath"`
		URL        string `json:"url"`
		Version    string `json:"version"`
	}

	// Erased: an event that a person had forgotten was here, in a file of an earlier version.
	Erased struct{}

	// ProcessEnded: the process ends, and what it owes is due. Events may still follow.
	ProcessEnded struct {
		Reason string `json:"reason"`
	}
)

// An unknown event is of a newer version. It goes into the table of events as it is.
type unknown struct {
	kind          string
	data          json.RawMessage
	Session, Turn int
}

// kinds are all kinds, by their names in the table events and in an event file. What one does to the database is its
// method fold; of which session and turn it is say its fields of these names.
var kinds = map[string]Event{
	"session_opened":  Opened{},
	"state_changed":   Stepped{},
	"session_left":    Closed{},
	"rekeyed":         Rekeyed{},
	"record_known":    RecordKnown{},
	"parent_known":    ParentKnown{},
	"titled":          Titled{},
	"injected":        Injected{},
	"unclaimed":       Unclaimed{},
	"context_stored":  ContextStored{},
	"context_dropped": ContextDropped{},
	"compacting":      Compacting{},
	"daemon_warned":   Warned{},
	"summarised":      Summarised{},
	"turn_began":      TurnBegan{},
	"user_said":       UserSaid{},
	"assistant_said":  AssistantSaid{},
	"tool_used":       ToolUsed{},
	"noted":           Noted{},
	"usage_reported":  UsageReported{},
	"turn_ended":      TurnEnded{},
	"key_started":     KeyStarted{},
	"daemon_answered": DaemonAnswered{},
	"erased":          Erased{},
	"process_ended":   ProcessEnded{},
}

// names has the name of each kind by its type.
var names = func() map[reflect.Type]string {
	m := map[reflect.Type]string{}
	for name, k := range kinds {
		m[reflect.TypeOf(k)] = name
	}
	return m
}()

// KindOf returns the name of an event's kind.
func KindOf(e Event) string {
	if u, is := e.(unknown); is {
		return u.kind
	}
	return names[reflect.TypeOf(e)]
}

// ParseEvent returns the event of a kind with the fields in data, a JSON object.
func ParseEvent(kind string, data []byte) (Event, error) {
	known, is := kinds[kind]
	if !is {
		if kind == "" || !json.Valid(data) {
			return nil, errors.New("no event")
		}
		u := unknown{kind: kind, data: bytes.Clone(data)}
		var of struct{ Session, Turn int }
		if json.Unmarshal(data, &of) == nil { // else it is of no session
			u.Session, u.Turn = of.Session, of.Turn
		}
		return u, nil
	}
	e := reflect.New(reflect.TypeOf(known))
	if err := json.Unmarshal(data, e.Interface()); err != nil {
		return nil, err
	}
	return e.Elem().Interface().(Event), nil
}
