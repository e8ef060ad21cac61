package agent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Faults are the ways in which this agent misbehaves, each read from the environment. Prompts are counted from 1 over
// the whole life of a session.
type faults struct {
	failAt   int // ECHOAGENT_FAIL=N:CODE: the Nth prompt is answered with an error
	failCode int //
	// ECHOAGENT_KEEP=1: a prompt that failed stays in the history (codex, qwen), else it is forgotten (gemini, pi)
	keep     bool
	dieAt    int           // ECHOAGENT_DIE=N: the process exits with status 7 in the Nth prompt
	loadCode int           // ECHOAGENT_LOAD_ERROR=CODE: every session/load and session/resume fails with it
	slow     time.Duration // ECHOAGENT_SLOW=DURATION: a turn takes that long after its first words; it can be cancelled
	commands []string      // ECHOAGENT_COMMANDS=a,b: slash commands to advertise
	ask      bool          // ECHOAGENT_ASK=1: asks for permission in every turn
	// ECHOAGENT_CALL=["program","argument"]: runs that in every turn, as an agent that calls another one does, and says
	// what it said
	call []string
	// ECHOAGENT_TOOL={"name":…,"arguments":{…}}: calls that tool of the first MCP server that it was given in every
	// turn, and says what came of it
	tool  *toolCall
	hang  string // ECHOAGENT_HANG=METHOD: never answers that; session/prompt also ignores being cancelled
	login bool   // ECHOAGENT_LOGIN=1: wants a person to log in before it makes a session
	junk  bool   // ECHOAGENT_JUNK=1: writes what is no message between its messages
	flood int    // ECHOAGENT_FLOOD=N: says N words more, each in a message of its own, and as much on stderr
	steps int    // ECHOAGENT_STEPS=N: uses N tools, one after the other
	write string // ECHOAGENT_WRITE=FILE: writes what it was given to that file of its folder
	kill  bool   // ECHOAGENT_KILL=1: kills the process that started it
	// ECHOAGENT_STEER=1: a turn waits for words in it (_session/steering), and says them; =late: it takes none
	steer string
	notes string // ECHOAGENT_NOTES=ANSWER: answers so when it is asked for notes of a session
	terse bool   // ECHOAGENT_TERSE=1: quotes only the last block, so that what came before it is in no answer
}

func faultsFrom(env func(string) string) (faults, error) {
	f := faults{
		keep:  env("ECHOAGENT_KEEP") == "1",
		ask:   env("ECHOAGENT_ASK") == "1",
		terse: env("ECHOAGENT_TERSE") == "1",
		login: env("ECHOAGENT_LOGIN") == "1",
		junk:  env("ECHOAGENT_JUNK") == "1",
		kill:  env("ECHOAGENT_KILL") == "1",
		hang:  env("ECHOAGENT_HANG"),
		steer: env("ECHOAGENT_STEER"),
		write: env("ECHOAGENT_WRITE"),
		notes: env("ECHOAGENT_NOTES"),
	}
	if v := env("ECHOAGENT_CALL"); v != "" {
		if err := json.Unmarshal([]byte(v), &f.call); err != nil {
			return f, fmt.Errorf("ECHOAGENT_CALL: %w", err)
		}
	}
	if v := env("ECHOAGENT_TOOL"); v != "" {
		if err := json.Unmarshal([]byte(v), &f.tool); err != nil {
			return f, fmt.Errorf("ECHOAGENT_TOOL: %w", err)
		}
	}
	if v := env("ECHOAGENT_COMMANDS"); v != "" {
		f.commands = strings.Split(v, ",")
	}
	if v := env("ECHOAGENT_FAIL"); v != "" {
		if _, err := fmt.Sscanf(v, "%d:%d", &f.failAt, &f.failCode); err != nil {
			return f, fmt.Errorf("ECHOAGENT_FAIL=%q: want N:CODE", v)
		}
	}
	for name, to := range map[string]*int{"ECHOAGENT_DIE": &f.dieAt, "ECHOAGENT_LOAD_ERROR": &f.loadCode,
		"ECHOAGENT_FLOOD": &f.flood, "ECHOAGENT_STEPS": &f.steps} {
		v := env(name)
		if v == "" {
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return f, fmt.Errorf("%s=%q: want a number", name, v)
		}
		*to = n
	}
	if v := env("ECHOAGENT_SLOW"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			return f, fmt.Errorf("ECHOAGENT_SLOW: %w", err)
		}
		f.slow = d
	}
	return f, nil
}

// A toolCall is a call of a tool, as it is told to make it.
type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}
