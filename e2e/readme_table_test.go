package e2e

// An execution says how a command of the pages is run, and what shows that it worked.
type execution struct {
	before string                       // what a reader has done before
	by     func(*reader, string) string // runs it and returns what it prints; nil: a shell does
	then   string                       // another command, which is asked for what came of it
	want   string                       // a pattern in what all of them print
}

// Executions has every command of the pages but those of notRun.
var executions = map[string]execution{
	"make run": {by: (*reader).make,
		want: `(?s)You are Halyard.*recalled: .*11\.42 metres.*saved sessions`},
	`make run AGENT=claude PROMPT="…"`:          {by: (*reader).make, want: `(?s)reply:.*You are Halyard.*saved sessions`},
	"make licences":                             {by: (*reader).make, want: `github\.com/mattn/go-sqlite3 .*MIT`},
	"signet-acp-proxy init":                     {want: `(?s)an agent would recall:.*mast of the Curlew`},
	"signet-acp-proxy -h":                       {want: `help settings`},
	"signet-acp-proxy --memory embedded doctor": {want: `(?m)^ok +database`},
	"signet-acp-proxy doctor":                   {want: `(?m)^ok +harness +claude speaks ACP`},
	"signet-acp-proxy doctor --json":            {},
	"signet-acp-proxy config show":              {want: `(?m)^memory +auto +default`},
	"signet-acp-proxy config show --json":       {},

	"signet-acp-proxy setup acpx --dry-run": {before: "rm -f ~/.acpx/config.json",
		then: "cat ~/.acpx/config.json || echo none", want: `(?s)\+ +"signet-claude".*none`},
	"signet-acp-proxy setup acpx": {then: "cat ~/.acpx/config.json",
		want: `"signet-codex": \{"command": "signet-acp-proxy"`},
	"signet-acp-proxy setup acpx gemini": {then: "cat ~/.acpx/config.json", want: `"signet-gemini"`},
	"signet-acp-proxy setup acpx NAME":   {then: "cat ~/.acpx/config.json", want: `"signet-gemini"`},
	"signet-acp-proxy setup acpx --remove": {before: setupClaude, then: "cat ~/.acpx/config.json || echo none",
		want: `signet-claude removed(?s:.*)none`},
	"signet-acp-proxy setup acpx --remove gemini": {before: "signet-acp-proxy setup acpx gemini",
		want: `signet-gemini removed`},
	"signet-acp-proxy setup acpx --remove NAME": {before: "signet-acp-proxy setup acpx gemini",
		want: `signet-gemini removed`},
	"signet-acp-proxy setup zed": {then: "cat $XDG_CONFIG_HOME/zed/settings.json",
		want: `"signet-claude": \{"type": "custom"`},
	"signet-acp-proxy setup zed gemini": {then: "cat $XDG_CONFIG_HOME/zed/settings.json",
		want: `"signet-gemini": \{"type": "custom"`},
	"signet-acp-proxy setup zed --remove": {before: "signet-acp-proxy setup zed gemini",
		want: `signet-gemini removed`},
	"signet-acp-proxy setup jetbrains gemini":        {then: "cat ~/.jetbrains/acp.json", want: `"env": \{"PATH": `},
	"signet-acp-proxy setup print gemini --for toad": {want: `^toad acp '/`},
	"signet-acp-proxy setup print gemini":            {want: `"signet-gemini"`},
	"signet-acp-proxy setup print NAME":              {want: `"signet-gemini"`},

	`acpx signet-claude exec "Who are you, and who am I?"`:                                  {want: `(?s)You are Halyard.*Ines runs the yard`},
	`acpx signet-claude exec "Remember this: the mast of the Curlew is 11.42 metres long."`: {before: setupClaude},
	// as much time as a person leaves
	`acpx signet-claude exec "How long is the mast of the Curlew?"`: {before: "signet-acp-proxy memory list"},
	`SIGNET_BYPASS=1 acpx signet-claude exec "Hello"`: {before: setupClaude,
		want: `(?s)1 block.*> Hello`},
	"acpx signet-claude sessions new": {before: setupClaude,
		want: `echo-`},
	"acpx signet-gemini sessions new":                                                  {want: `echo-`},
	`acpx signet-gemini "Remember this: the mast of the Curlew is 11.42 metres long."`: {want: `> Remember this`},
	"acpx signet-gemini sessions close": {then: "signet-acp-proxy " +
		"memory search mast", want: `Remember this: the mast`},
	`acpx signet-gemini exec "How long is the mast of the Curlew?"`: {want: `(?s)asked for.*Remember this: the mast`},

	"signet-acp-proxy --agent claude":                 {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent gemini":                 {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy -- gemini --acp":                {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent gemini -- gemini --acp": {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent mine -- my-agent --acp": {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy --agent mine -- my-agent":       {by: (*reader).converse, want: `You are Halyard`},
	"signet-acp-proxy mcp":                            {by: (*reader).tools, want: `memory_search`},

	"signet-acp-proxy sessions":                  {want: `echo-[0-9a-f]+ .* gemini +20.* 1 +added`},
	"signet-acp-proxy sessions --json":           {want: `"continuedBy": "`},
	"signet-acp-proxy sessions --json --limit 1": {},
	"signet-acp-proxy sessions --limit 1":        {want: `echo-[0-9a-f]+`},
	"signet-acp-proxy log SESSION":               {want: `mast of the Curlew is 11\.42`},
	"signet-acp-proxy backup FILE":               {before: "rm -f copy.db", want: `written: copy\.db`},
	"signet-acp-proxy restore FILE": {before: "rm -f copy.db; signet-acp-proxy backup copy.db",
		want: `restored: `},
	"signet-acp-proxy uninstall --yes": {before: setupClaude,
		then: "test ! -e $SIGNET_PATH/acp/sessions.db && echo gone", want: `gone`},
	"signet-acp-proxy show SESSION":                  {want: `context +embedded +kept`},
	"signet-acp-proxy show SESSION --context":        {want: `(?s)^<signet-memory .*You are Halyard`},
	"signet-acp-proxy show SESSION --json":           {},
	"signet-acp-proxy show SESSION --json --context": {want: `"text": "<signet-memory `},
	"signet-acp-proxy preview":                       {want: `You are Halyard`},
	"signet-acp-proxy preview --agent claude":        {want: `You are Halyard`},
	"signet-acp-proxy preview --prompt TEXT":         {want: `(?s)You are Halyard.*mast of the Curlew`},

	"signet-acp-proxy preview --continues SESSION":     {want: `## Earlier in this conversation`},
	"signet-acp-proxy sessions --here --handoff codex": {want: `(?m)acpx --cwd .* sessions new && `},
	"signet-acp-proxy handoff SESSION --to codex":      {want: `(?m)acpx --cwd .* sessions new && `},

	"signet-acp-proxy view": {then: "cat $SIGNET_PATH/acp/view.html",
		want: `(?s)view\.html\n.*<title>Agent memory.*mast of the Curlew`},
	"signet-acp-proxy usage":                             {want: `(?m)^HARNESS +SESSIONS`},
	"signet-acp-proxy usage --by day --since 30d --json": {want: `"memoryBytes": [1-9]`},
	"signet-acp-proxy events SESSION":                    {want: `turn ended +.*stop end_turn`},
	"signet-acp-proxy events SESSION --json":             {want: `"kind":"turn_ended","turn":1,`},

	"signet-acp-proxy config set notes agent":                              {then: "signet-acp-proxy config get notes", want: `(?m)^agent$`},
	"signet-acp-proxy memory list --notes":                                 {want: `no matches`},
	"signet-acp-proxy memory list --notes --json":                          {want: `(?m)^\[\]`},
	"signet-acp-proxy memory list":                                         {want: `mast of the Curlew`},
	"signet-acp-proxy memory list --from WHO":                              {before: "signet-acp-proxy memory add 'A mistake.'", want: `(?m)^ID +CREATED`},
	"signet-acp-proxy memory profile":                                      {want: `profile`},
	"signet-acp-proxy memory files WORDS":                                  {want: `no matches`},
	"signet-acp-proxy memory list --json":                                  {want: `"content": ".*mast of the Curlew`},
	"signet-acp-proxy memory search WORDS":                                 {want: `mast of the Curlew`},
	`signet-acp-proxy memory search "mast of the Curlew" --limit 1 --json`: {},
	"signet-acp-proxy memory show ID":                                      {want: `(?m)^id +[0-9a-z]{26}$`},
	"signet-acp-proxy memory add TEXT":                                     {want: `(?m)^[0-9a-z]{26}$`},
	"signet-acp-proxy memory backfill": {then: "signet-acp-proxy memory backfill " +
		"--dry-run --json", want: `(?m)^\[`},
	"signet-acp-proxy memory backfill --dry-run": {then: "signet-acp-proxy memory backfill " +
		"--dry-run --json", want: `(?m)^\[`},
	"signet-acp-proxy memory backfill claude --since 30d": {then: "signet-acp-proxy memory backfill " +
		"--dry-run --json", want: `(?m)^\[`},
	"signet-acp-proxy forget --source backfill:claude": {want: `0 conversations from backfill:claude`},
	"signet-acp-proxy memory edit ID TEXT": {before: "signet-acp-proxy memory add 'A " +
		"mistake.'", want: `changed: [0-9a-z]{26}`},
	"signet-acp-proxy memory pin ID": {before: "signet-acp-proxy memory add 'A " +
		"mistake.'", want: `pinned: [0-9a-z]{26}`},
	"signet-acp-proxy memory forget ID": {before: "signet-acp-proxy memory add 'A " +
		"mistake.'", want: `forgotten: `},
	"signet-acp-proxy memory list --agents": {before: claudeNotes, want: `The keel of the Curlew is lead`},
	"signet-acp-proxy memory promote LINE":  {before: claudeNotes, want: `[0-9a-z]{26}`},
	"signet-acp-proxy memory export":        {want: `(?m)^\{"id":".*mast of the Curlew`},
	"signet-acp-proxy memory export > memories.jsonl": {then: "cat memories.jsonl",
		want: `mast of the Curlew`},
	"signet-acp-proxy memory import --trust < memories.jsonl": {before: "signet-acp-proxy memory export > " +
		"memories.jsonl", want: `0 added, 0 updated`},
	"signet-acp-proxy memory import < memories.jsonl": {before: "signet-acp-proxy memory export > " +
		"memories.jsonl", want: `0 added, 0 updated`},
	"signet-acp-proxy memory import memories.jsonl": {before: "signet-acp-proxy memory export > " +
		"memories.jsonl", want: `0 added`},
	"signet-acp-proxy preview --json": {want: `"block": "<signet-memory`},
	"signet-acp-proxy memory import":  {want: `0 added`},

	"signet-acp-proxy forget SESSION": {then: "signet-acp-proxy show SESSION || echo gone",
		want: `forgotten: .*1 turn(?s:.*)gone`},
	"signet-acp-proxy forget --undo": {before: "signet-acp-proxy memory add 'A mistake.'; " +
		"signet-acp-proxy memory forget $(signet-acp-proxy memory add 'A mistake.')", want: `restored: the memory`},
	"signet-acp-proxy agents":                       {want: `(?m)^claude +(available|by npx)`},
	"signet-acp-proxy delegations":                  {want: `no delegated tasks yet`},
	"signet-acp-proxy prune --older-than 90d":       {want: `nothing to remove`},
	"signet-acp-proxy prune --older-than 90d --yes": {want: `nothing to remove`},
	"signet-acp-proxy deliver --wait":               {then: "signet-acp-proxy doctor", want: `nothing pending`},
	"signet-acp-proxy deliver --to-configured":      {then: "signet-acp-proxy doctor", want: `nothing pending`},
	"signet-acp-proxy deliver --once":               {then: "signet-acp-proxy doctor", want: `nothing pending`},
}

const (
	claudeNotes     = "mkdir -p ~/.claude && echo '- The keel of the Curlew is lead.' > ~/.claude/CLAUDE.md"
	viewLive        = "signet-acp-proxy view --live"
	claudeAdapter   = "npx -y @agentclientprotocol/claude-agent-acp@0.100.0"
	setupClaude     = "signet-acp-proxy setup acpx claude"
	goInstall       = "go install github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest"
	goInstallTagged = "go install -tags sqlite_fts5 github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest"
	npmInstall      = "npm install -g signet-acp-proxy"
	npxInit         = "npx -y signet-acp-proxy init"
	gitClone        = "git clone https://github.com/Signet-AI/signet-acp-proxy && cd signet-acp-proxy"
)

// notRun has the commands that no test can run, and why. What can be checked of them is: see (*reader).check.
var notRun = map[string]string{
	"source <(signet-acp-proxy completion bash)": "needs that shell, with its completion",
	"source <(signet-acp-proxy completion zsh)":  "needs that shell, with its completion",
	"signet-acp-proxy completion fish | source":  "needs that shell, with its completion",
	"make build":                    "links what the tests have built already",
	goInstall:                       "links what the tests have built already",
	goInstallTagged:                 "links what the tests have built already",
	viewLive:                        "serves until it is left; TestViewLive does that",
	"make recall":                   "measures for minutes",
	"signet-acp-proxy config get":   "needs a KEY",
	"signet-acp-proxy config set":   "needs a KEY and a VALUE",
	"signet-acp-proxy config unset": "needs a KEY",
	"signet-acp-proxy memory add":   "needs a TEXT",
	"signet-acp-proxy memory forget --from WHO":    "removes what came from somebody",
	"signet-acp-proxy delegations …":               "stands for its commands",
	"signet-acp-proxy prune --yes":                 "needs --older-than or --keep",
	"signet-acp-proxy memory backfill --watch":     "goes on until it is left",
	"signet-acp-proxy memory backfill specstory":   "reads the folders of a project",
	"signet-acp-proxy memory backfill --project .": "reads the folders of a project",
	"signet-acp-proxy notes run SESSION":           "asks an agent, which only Linux can confine",
	"signet-acp-proxy notes run --last 20":         "asks agents, which only Linux can confine",
	"signet-acp-proxy deliver --daemon-url URL":    "needs a daemon",
	"npm exec --":                      "names a way to start an agent",
	"npm exec":                         "names a way to start an agent",
	"make windows":                     "needs Wine",
	claudeAdapter:                      "fetches; any adapter may stand there",
	"make gitleaks":                    "fetches a module of its own",
	"make vuln":                        "fetches the list of vulnerabilities",
	"make publish-check":               "builds for minutes, and into the checkout",
	"VERSION=1.2.3 make publish-check": "builds for minutes, and into the checkout",
	"npm install -g acpx@0.19.1":       "fetches, and installs for the whole machine",
	npmInstall:                         "fetches, and installs for the whole machine; scripts/packages installs the package",
	npxInit:                            "fetches; scripts/packages has it from a registry of its own",
	gitClone:                           "fetches what is not there yet when a change is tested",
}

// tested has, of those, what does the same in a test: its name and folder.
var tested = map[string]string{
	"source <(signet-acp-proxy completion bash)":   "TestScripts cmd/signet-acp-proxy",
	"source <(signet-acp-proxy completion zsh)":    "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy completion fish | source":    "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy config get":                  "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy config set":                  "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy config unset":                "TestScripts cmd/signet-acp-proxy",
	"VERSION=1.2.3 make publish-check":             "TestNpx scripts/packages",
	"signet-acp-proxy memory add":                  "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy memory forget --from WHO":    "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy delegations …":               "TestDelegateEdits e2e",
	"signet-acp-proxy notes run SESSION":           "TestNotesAnswers e2e",
	"signet-acp-proxy notes run --last 20":         "TestNotesAnswers e2e",
	"signet-acp-proxy deliver --daemon-url URL":    "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy prune --yes":                 "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy memory backfill --watch":     "TestScripts cmd/signet-acp-proxy",
	"signet-acp-proxy memory backfill specstory":   "TestStores memory/backfill",
	"signet-acp-proxy memory backfill --project .": "TestStores memory/backfill",
	viewLive: "TestViewLive e2e",
}

func known(line string) bool {
	_, known := executions[line]
	return known || notRun[line] != ""
}
