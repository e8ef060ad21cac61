package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// previewCommand shows what a session's first prompt would get.
type previewCommand struct{ prompt, cwd, agent string }

func newPreview(f *Flags, std stdio) *cobra.Command {
	var p previewCommand
	cmd := &cobra.Command{
		Use: "preview", Short: "Print what would be injected now; nothing is recorded.", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return p.run(f, std) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.prompt, "prompt", "", "The `TEXT` of the prompt, for what it recalls.")
	flags.StringVar(&p.cwd, "cwd", ".", "The session's `DIR`.")
	flags.StringVar(&p.agent, "agent", "", "The harness by `NAME`.")
	complete(cmd, "cwd", folders)
	complete(cmd, "agent", agentNames(f))
	return cmd
}

func (cmd *previewCommand) run(f *Flags, std stdio) error {
	var err error
	if cmd.cwd, err = folderNamed(cmd.cwd); err != nil {
		return err
	}
	return atDesk(f, std, func(ctx context.Context, d *desk) error {
		if info, err := os.Stat(cmd.cwd); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no folder", cmd.cwd)
		}
		agent := d.c.agent(cmd.agent)
		if agent.AgentID != "" {
			d.c.AgentID = agent.AgentID
		}
		switch {
		case d.c.Memory == "off":
			std.say("nothing: memory is off (%s)", d.c.sources["memory"])
			return nil
		case !agent.Inject:
			std.say("nothing: agents.%s.inject is off (%s)", canonical(cmd.agent), d.c.sources["agents."+canonical(cmd.agent)+".inject"])
			return nil
		case memory.OptedOut(cmd.cwd, d.c.Exclude):
			std.say("nothing: %s has opted out, by a .signet-ignore file or exclude", cmd.cwd)
			return nil
		}
		return cmd.preview(ctx, d, std)
	})
}

// folderNamed is the path of a folder as a person names it; of --cwd=~/x a shell leaves the ~ to us.
func folderNamed(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~"+string(filepath.Separator)); ok || name == "~" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the home folder: %w", err)
		}
		name = filepath.Join(home, rest)
	}
	return filepath.Abs(name)
}

func (cmd *previewCommand) preview(ctx context.Context, d *desk, std stdio) error {
	profile, known := d.c.profile(cmd.agent)
	if cmd.agent != "" && !known {
		return unknownAgent(d.c, cmd.agent)
	}
	who := memory.Session{Key: correlation.NewKey(), Harness: profile.Name, Cwd: cmd.cwd, Project: memory.Project(cmd.cwd), AgentID: d.c.AgentID}
	if err := d.memories.Learn(ctx); err != nil {
		return err
	}
	source, forget, err := d.source(who)
	if err != nil {
		return err
	}
	defer forget()
	begun := time.Now()
	start, err := source.Start(ctx, who)
	if errors.Is(err, memory.ErrOwned) {
		std.say("nothing: %v", err)
		return nil
	}
	var recalled memory.Context
	if err != nil {
		std.say("without the daemon's memories: %v", err)
		start = d.memories.Identity(who)
	} else if cmd.prompt != "" {
		if recalled, err = source.Recall(ctx, who, cmd.prompt, nil); err != nil {
			std.say("without what the prompt recalls: %v", err)
		}
	}
	took := time.Since(begun)
	hint := d.c.ToolHint == "always" || d.c.ToolHint == "auto" && !profile.AsksForTools
	block, ok := memory.Compose(who.Key, start, recalled, memory.Style{ToolHint: hint})
	cmd.explain(d.c, start, recalled, block, std)
	if !ok {
		std.say("nothing would be injected")
		return nil
	}
	std.say("%d bytes, about %d tokens, in %d ms", len(block.Text), memory.Tokens(block.Text), took.Milliseconds())
	_, err = fmt.Fprint(std.out, block.Text)
	return err
}

// source is where context would come from. forget takes the preview's key out of the daemon's list of sessions again.
func (d *desk) source(who memory.Session) (source memory.Source, forget func(), err error) {
	forget = func() {}
	if d.c.Memory == "embedded" {
		return d.memories, forget, nil
	}
	daemon, err := newDaemon(d.c, daemonToken(), d.log.logger())
	if err != nil {
		return nil, nil, err
	}
	forget = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if _, err := daemon.End(ctx, signet.EndRequest{Key: who.Key, AgentID: who.AgentID, Cwd: who.Cwd, Reason: "preview"}); err != nil {
			log := d.log.logger()
			log.Debug().Err(err).Str("key", who.Key).Msg("ending a preview")
		}
	}
	if d.c.Memory == "daemon" {
		return daemon, forget, nil
	}
	return memory.Auto{Daemon: daemon, Embedded: d.memories}, forget, nil
}

// identityNames are the person's own files, in the order in which an agent reads them.
var identityNames = []string{"IDENTITY.md", "USER.md", "SOUL.md", "AGENTS.md", "MEMORY.md"}

// explain says of each piece why it is in or out.
func (cmd *previewCommand) explain(c *Config, start, recalled memory.Context, block memory.Block, std stdio) {
	std.say("from: %s", start.Source)
	if start.Source == memory.FromEmbedded {
		for _, name := range identityNames {
			std.say("%s: %s", name, fateOf(filepath.Join(c.SignetPath, name), start.Identity))
		}
	}
	seen := map[string]bool{}
	for _, it := range append(slices.Clone(recalled.Items), start.Items...) {
		name := it.ID
		if name == "" {
			name = it.Text
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		fate := "in"
		if !slices.Contains(block.Items, name) {
			fate = "out: said already, or no room"
		}
		std.say("memory %s (score %.2f): %s", cut(printable(name), 40), it.Score, fate)
	}
	if cmd.prompt != "" && len(recalled.Items) == 0 {
		std.say("the prompt recalls nothing: no memory is relevant enough")
	}
}

// fateOf says what became of an identity file.
func fateOf(path, identity string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "out: there is none"
	case err != nil:
		return "out: " + err.Error()
	case !info.Mode().IsRegular():
		return "out: not a regular file"
	case strings.Contains(identity, "# "+filepath.Base(path)+"\n"):
		return fmt.Sprintf("in (%d bytes)", info.Size())
	case info.Size() == 0:
		return "out: empty"
	}
	if f, err := os.Open(path); err != nil {
		return "out: " + err.Error()
	} else if f.Close() != nil {
		return "out: cannot be read"
	}
	return "out: the harness reads it by itself"
}
