package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// showCommand shows one session.
type showCommand struct {
	context bool
	json    bool
}

// namesSession explains the argument of commands that are about one session.
const namesSession = "is an ACP session id, a Signet key, an acpx record, or the unique beginning of one."

func newShow(f *Flags, std stdio) *cobra.Command {
	var s showCommand
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a session: its ids, what was injected, what was delivered.", Args: arguments,
		Long:              "Show a session: its ids, what was injected, what was delivered. ID " + namesSession,
		ValidArgsFunction: sessionIDs(f),
		RunE:              func(_ *cobra.Command, args []string) error { return s.run(args[0], f, std) },
	}
	cmd.Flags().BoolVar(&s.context, "context", false, "Print the text that was injected, exactly, and nothing else.")
	forScripts(cmd, &s.json)
	return cmd
}

// shownSession is what show --json prints: the session's row and what hangs on it.
type shownSession struct {
	sessionRow
	Keys       []string        `json:"keys"` // Signet keys, the current one last
	Injections []shownInsert   `json:"injections"`
	Deliveries []shownDelivery `json:"deliveries"`
}

type shownInsert struct {
	Kind    string    `json:"kind"`
	BlockID string    `json:"blockId"`
	Source  string    `json:"source"`
	Outcome string    `json:"outcome"`
	Key     string    `json:"signetSessionKey"`
	Bytes   int       `json:"bytes"`
	FetchMS int64     `json:"fetchMs"`
	HeldMS  int64     `json:"heldMs"`
	Items   []string  `json:"items"` // ids of the memories inside
	At      time.Time `json:"at"`
	Text    string    `json:"text,omitempty"` // with --context
}

type shownDelivery struct {
	Kind     string     `json:"kind"`
	State    string     `json:"state"`
	Key      string     `json:"signetSessionKey"`
	Reason   string     `json:"reason"`
	Attempts int        `json:"attempts"`
	Turns    int        `json:"turns"`
	Owed     time.Time  `json:"owed"`
	Due      *time.Time `json:"due,omitempty"`  // open ones
	Done     *time.Time `json:"done,omitempty"` // the others
	Reply    string     `json:"reply,omitempty"`
	Error    string     `json:"error,omitempty"`
}

func (cmd *showCommand) run(id string, f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		s, err := d.sessions.Resolve(ctx, id)
		if err != nil {
			return err
		}
		inserted, err := d.sessions.Injections(ctx, s.ID)
		if err != nil {
			return err
		}
		slices.Reverse(inserted) // oldest first
		if cmd.context && !cmd.json {
			return printContext(inserted, s, std)
		}
		keys, err := d.sessions.Keys(ctx, s.ID)
		if err != nil {
			return err
		}
		deliveries, err := d.sessions.Deliveries(ctx, s.ID)
		if err != nil {
			return err
		}
		shown := shownSession{sessionRow: rowOf(s), Keys: []string{}, Injections: []shownInsert{}, Deliveries: []shownDelivery{}}
		for _, k := range keys {
			shown.Keys = append(shown.Keys, k.Key)
		}
		for _, in := range inserted {
			one := shownInsert{in.Kind, in.BlockID, in.Source, in.Outcome, in.Key, in.Bytes, in.FetchMS, in.HeldMS, in.Items, in.At.UTC(), ""}
			if cmd.context {
				one.Text = in.Text
			}
			shown.Injections = append(shown.Injections, one)
		}
		for _, v := range deliveries {
			shown.Deliveries = append(shown.Deliveries, deliveryOf(v))
		}
		if cmd.json {
			return printJSON(std.out, shown)
		}
		return shown.print(screenOn(std.out))
	})
}

// printContext prints what was injected, oldest first, without a byte more.
func printContext(inserted []correlation.Injection, s correlation.Session, std stdio) error {
	if len(inserted) == 0 {
		std.say("nothing was injected into %s (%s)", s.ACPID, s.State)
	}
	for _, in := range inserted {
		if _, err := io.WriteString(std.out, in.Text); err != nil {
			return err
		}
	}
	return nil
}

func deliveryOf(v correlation.Delivery) shownDelivery {
	one := shownDelivery{Kind: v.Kind, State: string(v.State), Key: v.Key, Reason: v.Reason, Attempts: v.Attempts, Turns: v.Turns, Owed: v.Owed.UTC(), Reply: v.Reply, Error: v.Error}
	at := v.Due.UTC()
	if one.Due = &at; !v.Done.IsZero() {
		at = v.Done.UTC()
		one.Due, one.Done = nil, &at
	}
	return one
}

func (v shownSession) print(s screen) error {
	var l list
	l.add("session", v.ACPXSessionID)
	l.add("signet key", v.SignetSessionKey)
	if len(v.Keys) > 1 {
		l.add("earlier keys", fmt.Sprint(v.Keys[:len(v.Keys)-1]))
	}
	l.add("acpx record", v.ACPXRecordID)
	l.add("harness", v.Harness+versioned(v.AgentVersion))
	if v.Client != "" {
		l.add("client", v.Client+versioned(v.ClientVersion))
	}
	l.add("agent id", v.AgentID)
	l.add("parent key", v.ParentSessionKey)
	l.add("folder", v.Cwd)
	l.add("project", v.Project)
	state := v.State
	if v.Live {
		state = "live, " + state
	}
	l.add("state", state)
	l.add("turns", strconv.Itoa(v.Turns))
	l.add("started", local(v.Started))
	l.add("last active", local(v.LastActive))
	l.print(s)
	if len(v.Injections) > 0 {
		fmt.Fprintln(s.w, "\n"+s.paint(bold, "Injected")+" (--context prints the text)")
		t := &table{columns: []column{{title: "AT"}, {title: "KIND"}, {title: "FROM"}, {title: "OUTCOME"}, {title: "BYTES"}, {title: "MEMORIES", spare: 3}, {title: "FETCH", spare: 2}, {title: "HELD", spare: 1}}}
		for _, in := range v.Injections {
			t.add(local(in.At), in.Kind, in.Source, in.Outcome, strconv.Itoa(in.Bytes), strconv.Itoa(len(in.Items)), fmt.Sprint(in.FetchMS, " ms"), fmt.Sprint(in.HeldMS, " ms"))
		}
		if err := t.print(s); err != nil {
			return err
		}
	}
	if len(v.Deliveries) > 0 {
		fmt.Fprintln(s.w, "\n"+s.paint(bold, "Delivered"))
		t := &table{columns: []column{{title: "OWED"}, {title: "KIND"}, {title: "STATE"}, {title: "TURNS", spare: 2}, {title: "TRIES", spare: 1}, {title: "ANSWER", least: 12, spare: 3}}}
		for _, one := range v.Deliveries {
			answer := one.Reply
			if one.Error != "" {
				answer = one.Error
			}
			t.add(local(one.Owed), one.Kind, one.State, strconv.Itoa(one.Turns), strconv.Itoa(one.Attempts), answer)
		}
		return t.print(s)
	}
	return nil
}

func versioned(version string) string {
	if version == "" {
		return ""
	}
	return " " + version
}
