package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// doctorCommand looks for what is wrong. It changes nothing but what opening the database changes anyway.
type doctorCommand struct {
	agents []string
	json   bool
}

func newDoctor(f *Flags, std stdio) *cobra.Command {
	var d doctorCommand
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong; exit 1 if something is.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return d.run(f, std) },
	}
	cmd.Flags().StringSliceVar(&d.agents, "agent", nil, "Look at these harnesses too: `NAME,NAME`.")
	complete(cmd, "agent", agentNames(f))
	forScripts(cmd, &d.json)
	return cmd
}

// Statuses of findings.
const (
	fine    = "ok"
	note    = "note"
	problem = "problem"
)

// A finding is one line of the doctor's.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, note, problem
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to do
}

// doctorTime is how long all of it may take.
const doctorTime = 90 * time.Second

func (cmd *doctorCommand) run(f *Flags, std stdio) error {
	c, err := loadConfig(f)
	var usage exitError
	if errors.As(err, &usage) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), doctorTime)
	defer cancel()
	exam := examination{c: c, std: std}
	checks := []func(context.Context) []finding{
		func(context.Context) []finding { return configurationFindings(c, err) },
		exam.daemon,
		func(context.Context) []finding { return c.identityFindings() },
		func(ctx context.Context) []finding { // permissions first: opening the database mends some
			return append(c.permissionFindings(), exam.database(ctx)...)
		},
		func(context.Context) []finding { return searchFindings(c) },
		exam.clients,
		func(context.Context) []finding { return c.doubleFindings() },
		func(ctx context.Context) []finding { return exam.harnesses(ctx, cmd.agents) },
	}
	results := make([][]finding, len(checks))
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() { results[i] = check(ctx) })
	}
	wg.Wait()
	all, bad := []finding{}, 0
	for _, found := range results {
		for _, one := range found {
			if all = append(all, one); one.Status == problem {
				bad++
			}
		}
	}
	if cmd.json {
		err = printJSON(std.out, all)
	} else {
		err = printFindings(all, screenOn(std.out))
	}
	if err != nil {
		return err
	}
	if bad > 0 {
		return exitError{exitFailed, errors.New(count(bad, "problem"))}
	}
	return nil
}

// An examination is what checks share.
type examination struct {
	c   *Config
	std stdio
}

func printFindings(all []finding, s screen) error {
	colours := map[string]string{fine: green, note: yellow, problem: red}
	var b strings.Builder
	for _, one := range all {
		head := fmt.Sprintf("%-7s  %-11s  ", one.Status, one.Check)
		text := wrap(printable(one.Text), s.width, len(head))
		if one.Fix != "" {
			text += "\n" + strings.Repeat(" ", len(head)) + wrap("→ "+printable(one.Fix), s.width, len(head))
		}
		b.WriteString(s.paint(colours[one.Status], head[:7]) + head[7:] + text + "\n")
	}
	_, err := fmt.Fprint(s.w, b.String())
	return err
}

// wrap breaks text between words where the screen ends, all lines but the first indented.
func wrap(text string, width, indent int) string {
	room := width - indent
	if width == 0 || room < 20 {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := displayWidth(word)
		switch {
		case i == 0:
		case used+1+n > room:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

func configurationFindings(c *Config, err error) []finding {
	const check = "config"
	if err == nil {
		return []finding{{check, fine, fmt.Sprintf("memory: %s (%s)", c.Memory, c.sources["memory"]), ""}}
	}
	var all []finding
	for line := range strings.Lines(err.Error()) {
		all = append(all, finding{check, problem, strings.TrimSpace(line), "correct it; until then the relay takes the default"})
	}
	return all
}
