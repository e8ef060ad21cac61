# Everything here works from a clean clone with Go, npm and git. With a C compiler the tag takes SQLite in C, which needs half the CPU.
TAGS := sqlite_fts5
BIN := bin/signet-acp-proxy
ECHO := bin/echoagent
GREMLINS := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
FUZZTIME ?= 30s
# Compiling SQLite takes longest: without what a C debugger reads it takes a sixth less.
export CGO_CFLAGS ?= -O2

.PHONY: build run test bench scale bench-readme fuzz mutants recall saves crash gitleaks harnesses redteam windows pictures lint vuln licences weigh release publish-check clean
.DEFAULT_GOAL := build

build:
	@echo "go build -tags $(TAGS) -o $(BIN) ./cmd/signet-acp-proxy"
	@. scripts/beat.sh; beat go build -tags $(TAGS) -o $(BIN) ./cmd/signet-acp-proxy
	go build -o $(ECHO) ./e2e/echoagent

# The main job on one screen: AGENT=claude PROMPT="…" for a real harness, else the echo agent in a temporary HOME. VERBOSE=1: both replies as
# they came. It looks for what it needs before it builds.
run:
	@./scripts/run.sh "$(TAGS)" $(BIN) $(ECHO) -agent "$(AGENT)" -prompt "$(PROMPT)" $(if $(VERBOSE),-verbose)

# A line for each step; PKG=./proxy is the short form, for one package.
test:
	@./scripts/test.sh $(PKG)

# FLAGS=-limits also says what misses e2e/bench/limits.yaml, and fails.
bench: build
	go run ./e2e/bench -proxy $(BIN) $(FLAGS)

# How it grows: with sessions on a connection, processes beside each other, turns in a session, and so many sessions of ten
# turns in the database, which it fills first (100,000 take a quarter of an hour); and what an import and commands take then.
SESSIONS ?= 10000
scale: build
	go run ./e2e/bench -proxy $(BIN) -scale $(SESSIONS)

# The table in docs/facts/performance.md.
bench-readme: build
	go run ./e2e/bench -proxy $(BIN) -rounds 9 -into docs/facts/performance.md

# Each target in turn: go test fuzzes one at a time. CODING=FOLDER: also with the source code, logs and conversations of a folder.
fuzz:
	@grep -rHoE --include='*_test.go' 'func Fuzz[A-Za-z0-9_]+' . | grep -v node_modules | sed 's/func //' | while IFS=: read -r file target; do \
		echo "== $$target ($$(dirname $$file))"; \
		go test -tags $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$(dirname $$file) || exit 1; \
	done

# One-line changes of a package that its own tests do not notice. It changes a copy, and takes a few seconds a change.
mutants:
	go run $(GREMLINS) unleash --tags $(TAGS) --workers 1 --timeout-coefficient 20 -S lt $(PKG)

# How well it finds what is asked for, beside plain BM25, and how fast among 10,000 and 100,000 memories.
recall:
	CODING="$(abspath $(CODING))" DIALOGUES="$(abspath $(DIALOGUES))" NOTES="$(abspath $(NOTES))" \
		go test -tags $(TAGS) -count=1 -v -run Recall -bench Recall -benchtime 480x ./memory/embedded/...

# Which files Where names before real sessions (TEAM=FILE) go in, what it can save at most, and what learning from use changes.
saves:
	TEAM="$(abspath $(TEAM))" go test -tags $(TAGS) -count=1 -v -run RecallTeam ./memory/embedded

# Kills between any two writes of a turn, a commit and a migration; of forget, prune and restore; and disks that fill up.
crash:
	SIGNET_TEST_CRASH_STRIDE=1 SIGNET_TEST_CRASH_KILLS=40 go test -tags $(TAGS) -count=1 -timeout 60m -run Crash -v ./e2e

# Whether redaction finds what gitleaks finds: its rules write the secrets, and both look. A module of its own, for its many dependencies.
gitleaks:
	cd e2e/gitleaks && go test -count=1 -v .

# Real harnesses, 1.5 GB of them, against a fake model on loopback, and the table of what was seen; INTO=docs/facts/harnesses.md puts it there.
harnesses:
	$(if $(INTO),SIGNET_HARNESS_TABLE=$(abspath $(INTO))) go test -tags "$(TAGS) harnesses" -count=1 -timeout 60m -v ./e2e/harnesses

# A hostile child tries to get out of its bounds: what it tries, and what stops it. `make test` runs it, too.
redteam:
	go test -tags $(TAGS) -count=1 -v -run TestRedteam ./e2e

# The build for Windows, under Wine; it says what is missing where that is not there.
windows:
	go test -tags wine -count=1 -timeout 15m -v ./e2e/wine

# The page of `view` in the Chromium that is there, in dist/pictures: each part light, dark and narrow; axe-core, requests, speed.
# INTO=docs/pictures also takes the two that README has.
pictures: build
	go run -tags $(TAGS) ./e2e/pictures -proxy $(BIN) $(if $(INTO),-into $(INTO))

lint:
	go run $$(sed -n 's/^staticcheck=//p' scripts/test.sh) -tags $(TAGS) ./...

# Known vulnerabilities of what is called; the list of them is fetched.
vuln:
	go run $(GOVULNCHECK) -tags $(TAGS) ./cmd/signet-acp-proxy

# What is linked into the program, and under which licence.
licences:
	./scripts/licences.sh

# What the code weighs: lines, packages, names, branches. Signs, not aims.
weigh:
	@go run ./scripts/weigh

# Archives, checksums, SBOMs and packages in dist/; TARGETS=linux/amd64 makes one of them.
release:
	./scripts/release.sh

# All of a release but publishing it: builds it, and tries archive, npm package and deb in clean roots. docs/releasing.md has the rest.
publish-check: release
	./scripts/publish-check.sh "$(TAGS)"

clean:
	rm -rf bin dist e2e/node_modules e2e/harnesses/node_modules
