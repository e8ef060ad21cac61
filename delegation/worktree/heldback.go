package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Held is a change that Apply holds back, because it would run or steer programs on the user's side.
type Held struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// steering names the files and folders, at any depth and in any case, that run or steer programs as soon as they are
// there: a name, one that begins or ends with *, or two elements.
var steering = []struct{ why, names string }{
	{"an agent's settings", `.claude .codex .gemini .qwen .cursor .windsurf .opencode .crush .kiro .junie .roo .cline
		.continue .augment .amazonq .agents .pi .goose .zed .mcp.json mcp.json opencode.json opencode.jsonc
		.aider.conf.yml .crush.json`},
	{"instructions to agents", `agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md
		crush.md warp.md .rules .cursorrules .windsurfrules .clinerules .roorules .goosehints copilot-instructions.md
		.github/instructions .github/prompts .github/chatmodes .github/agents`},
	{"an editor's settings", `.vscode .idea .fleet .devcontainer .devcontainer.json *.code-workspace .exrc .vimrc
		.nvimrc .nvim.lua .dir-locals.el .dir-locals-2.el *.sublime-project`},
	{"the shell's settings", ".envrc .mise.toml mise.toml .mise .tool-versions .autoenv .bash_profile .bashrc .zshrc"},
	{"git hooks", `.githooks .husky .pre-commit-config.yaml *lefthook.yml *lefthook.yaml *lefthook.toml *lefthook.json
		*lefthook-local.yml *lefthook-local.yaml *lefthook-local.toml *lefthook-local.json .lefthook .overcommit.yml
		.gitmodules .gitconfig`},
	{"a package manager's settings", `.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs bunfig.toml pip.conf
		.cargo`},
	{"CI", `.github/workflows .github/actions .gitlab-ci.yml .gitlab .circleci .travis.yml jenkinsfile .buildkite
		azure-pipelines.yml bitbucket-pipelines.yml .drone.yml .woodpecker.yml .woodpecker .gitea .forgejo
		.teamcity appveyor.yml .appveyor.yml cloudbuild.yaml .cirrus.yml`},
}

// scripts are files of packages, and the key of the commands in them.
var scripts = map[string]string{"package.json": "scripts", "composer.json": "scripts", "deno.json": "tasks"}

// steers returns why a name runs or steers programs, "" if it does not.
func steers(name string) string {
	elements := folded(name)
	for i, element := range elements {
		for _, s := range steering {
			for want := range strings.FieldsSeq(s.names) {
				first, second, isPair := strings.Cut(want, "/")
				end, isEnd := strings.CutPrefix(want, "*")
				if element == want || isEnd && strings.HasSuffix(element, end) ||
					isPair && element == first && i+1 < len(elements) && elements[i+1] == second {
					return s.why
				}
			}
		}
	}
	if elements[len(elements)-1] == "head" { // without one a folder is no repository, whose configuration runs programs
		return "a git folder"
	}
	return ""
}

// held returns which of the result's changes are held back.
func (r *Result) held(ctx context.Context, changed []change) (list []Held, err error) {
	hooks := r.hooks(ctx)
	for _, c := range changed {
		name, why := c.name, steers(c.name)
		isBelow := slices.ContainsFunc(list, func(h Held) bool { return strings.HasPrefix(name, h.File+"/") })
		switch {
		case isBelow:
			why = "its replacement is held back"
		case why != "":
		case hooks != "" && strings.HasPrefix(strings.ToLower(name), hooks):
			why = "git hooks"
		case c.mode == "120000": // a link
			target, err := r.git().run(ctx, "", "cat-file", "blob", c.id)
			if err != nil {
				return nil, err
			}
			if leadsOut(name, target) {
				why = "a link to outside: " + target
			}
		case !c.removed && scripts[folded(path.Base(name))[0]] != "":
			text, err := r.git().run(ctx, "", "cat-file", "blob", c.id)
			if err != nil {
				return nil, err
			}
			why = r.newScript(name, []byte(text))
		}
		if why != "" {
			list = append(list, Held{name, why})
		}
	}
	return list, nil
}

// hooks returns the folder in which the caller's git looks for hooks, in lower case, if it is below the top.
func (r *Result) hooks(ctx context.Context) string {
	if len(r.Repositories) == 0 {
		return ""
	}
	folder := r.Repositories[0].userSettings(ctx)["core.hookspath"]
	if filepath.IsAbs(folder) {
		folder, _ = filepath.Rel(r.Top, folder)
	}
	if folder = path.Clean(filepath.ToSlash(folder)); folder == "." || strings.HasPrefix(folder, "..") {
		return ""
	}
	return strings.ToLower(folder) + "/"
}

// leadsOut reports whether a link may lead out of the tree, or to what is named like .git. One that goes up behind a
// name may: that name may be a link, too.
func leadsOut(name, target string) bool {
	target = strings.ReplaceAll(target, "\\", "/")
	elements := strings.Split(target, "/")
	down := slices.IndexFunc(elements, func(e string) bool { return e != ".." && e != "." && e != "" })
	to := path.Join(path.Dir(name), target)
	return path.IsAbs(target) || filepath.VolumeName(filepath.FromSlash(target)) != "" || NamesGit(target) ||
		down >= 0 && slices.Contains(elements[down:], "..") || to == ".." || strings.HasPrefix(to, "../")
}

// newScript returns why a package's file is held back: it has a command that the caller's has not.
func (r *Result) newScript(name string, text []byte) string {
	key := scripts[folded(path.Base(name))[0]]
	mine, _ := os.ReadFile(filepath.Join(r.Top, filepath.FromSlash(name))) // none has no commands
	known, _ := commands(mine, key)
	fresh, err := commands(text, key)
	if err != nil {
		return "its " + key + " cannot be read"
	}
	for command, line := range fresh {
		if known[command] != line {
			return fmt.Sprintf("a new command in its %s: %s", key, command)
		}
	}
	return ""
}

func commands(text []byte, key string) (map[string]string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if all[key] != nil {
		if err := json.Unmarshal(all[key], &raw); err != nil {
			return nil, err
		}
	}
	found := map[string]string{}
	for name, value := range raw {
		found[name] = string(value)
	}
	return found, nil
}

// without returns a commit with the result, but for some files: these are as they were handed on.
func (r *Result) without(ctx context.Context, g git, names []string) (string, error) {
	if len(names) == 0 {
		return r.result, nil
	}
	if _, err := g.run(ctx, "", "read-tree", r.result); err != nil {
		return "", err
	}
	if _, err := g.run(ctx, joined(names), "update-index", "-z", "--force-remove", "--stdin"); err != nil {
		return "", err
	}
	before, err := g.paths(ctx, slices.Concat([]string{"--literal-pathspecs", "ls-tree", "-z", r.base, "--"}, names)...)
	if err == nil {
		_, err = g.run(ctx, joined(before), "update-index", "--replace", "-z", "--index-info")
	}
	if err != nil {
		return "", err
	}
	return g.commit(ctx, r.base, "What is not held back")
}
