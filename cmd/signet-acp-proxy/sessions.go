package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// sessionsCommand lists sessions.
type sessionsCommand struct {
	limit int
	json  bool
}

func newSessions(f *Flags, std stdio) *cobra.Command {
	var s sessionsCommand
	cmd := &cobra.Command{
		Use: "sessions", Short: "List sessions, newest first.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return s.run(f, std) },
	}
	cmd.Flags().IntVar(&s.limit, "limit", 0, "Only the newest `N`.")
	forScripts(cmd, &s.json)
	return cmd
}

// sessionSchema names the shape of sessionRow. A field may be added under it; one that changes or goes needs a new one.
const sessionSchema = "signet-acp.session.v1"

// sessionRow is a session as scripts and extraction hooks read it.
type sessionRow struct {
	Schema           string    `json:"schema"`
	ACPXSessionID    string    `json:"acpxSessionId"` // the agent's session id
	ACPXRecordID     string    `json:"acpxRecordId"`  // "" when acpx did not open it
	SignetSessionKey string    `json:"signetSessionKey"`
	Harness          string    `json:"harness"`
	Client           string    `json:"client"`
	ClientVersion    string    `json:"clientVersion"`
	Agent            string    `json:"agent"`
	AgentVersion     string    `json:"agentVersion"`
	AgentID          string    `json:"agentId"` // Signet's
	ParentSessionKey string    `json:"parentSessionKey"`
	Cwd              string    `json:"cwd"`
	Project          string    `json:"project"`
	State            string    `json:"state"`
	Live             bool      `json:"live"`
	Turns            int       `json:"turns"`
	Started          time.Time `json:"started"`
	LastActive       time.Time `json:"lastActive"`
}

func rowOf(s correlation.Session) sessionRow {
	return sessionRow{
		Schema: sessionSchema, ACPXSessionID: s.ACPID, ACPXRecordID: s.Record, SignetSessionKey: s.Key, Harness: s.Harness,
		Client: s.Client, ClientVersion: s.ClientVersion, Agent: s.Agent, AgentVersion: s.AgentVersion, AgentID: s.AgentID, ParentSessionKey: s.ParentKey,
		Cwd: s.Cwd, Project: s.Project, State: string(s.State), Live: s.Live, Turns: s.Turns, Started: s.Started.UTC(), LastActive: s.LastActive.UTC(),
	}
}

func (cmd *sessionsCommand) run(f *Flags, std stdio) error {
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		all, err := d.sessions.Sessions(ctx, cmd.limit)
		if err != nil {
			return err
		}
		if cmd.json {
			rows := []sessionRow{}
			for _, s := range all {
				rows = append(rows, rowOf(s))
			}
			return printJSON(std.out, rows)
		}
		if len(all) == 0 {
			std.say("no sessions yet")
			return nil
		}
		return sessionTable(all).print(screenOn(std.out))
	})
}

func sessionTable(all []correlation.Session) *table {
	t := &table{columns: []column{
		{title: "SESSION", least: 10}, {title: "HARNESS", least: 6}, {title: "STATE", least: 6}, {title: "TURNS", spare: 2}, {title: "LAST ACTIVE", spare: 3}, {title: "FOLDER", least: 8, spare: 1},
	}}
	for _, s := range all {
		state := string(s.State)
		if s.Live {
			state = "live, " + state
		}
		t.add(s.ACPID, s.Harness, state, strconv.Itoa(s.Turns), local(s.LastActive), s.Cwd)
	}
	return t
}
