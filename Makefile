# Everything here works from a clean clone with Go, a C compiler, npm and git. FTS5 is compiled into the SQLite driver by a tag.
TAGS := sqlite_fts5
BIN := bin/signet-acp-proxy
ECHO := bin/echoagent
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
FUZZTIME ?= 30s

.PHONY: build run test bench fuzz recall harnesses lint vuln licences release clean
.DEFAULT_GOAL := build

build:
	@mkdir -p bin
	go build -tags $(TAGS) -o $(BIN) ./cmd/signet-acp-proxy
	go build -o $(ECHO) ./e2e/echoagent

# The main job: AGENT=claude PROMPT="…" for a real harness, else the echo agent in a temporary HOME.
run: build
	go run ./e2e/run -proxy $(BIN) -echo $(ECHO) -agent "$(AGENT)" -prompt "$(PROMPT)"

test:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt clean: $$unformatted"; exit 1; }
	go vet -tags $(TAGS) ./...
	CGO_ENABLED=0 GOOS=darwin go vet -tags $(TAGS) ./...
	CGO_ENABLED=0 GOOS=windows go vet -tags $(TAGS) ./...
	go test -race -tags $(TAGS) -timeout 11m ./...
	go test -timeout 5m ./migrations/... ./memory/... ./cmd/...

bench: build
	go run ./e2e/bench -proxy $(BIN)

# Each target in turn: go test fuzzes one at a time.
fuzz:
	@grep -rHoE --include='*_test.go' 'func Fuzz[A-Za-z0-9_]+' . | grep -v node_modules | sed 's/func //' | while IFS=: read -r file target; do \
		echo "== $$target ($$(dirname $$file))"; \
		go test -tags $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$(dirname $$file) || exit 1; \
	done

# How well it finds what is asked for, beside plain BM25, and how fast among 10,000 and 100,000 memories.
recall:
	go test -tags $(TAGS) -count=1 -v -run Recall -bench Recall -benchtime 480x ./memory/embedded/...

# Real harnesses, 1.5 GB of them, against a fake model on loopback.
harnesses: build
	go test -tags "$(TAGS) harnesses" -count=1 -timeout 60m -v ./e2e/harnesses

lint:
	go run $(STATICCHECK) -tags $(TAGS) ./...

# Known vulnerabilities of what is called; the list of them is fetched.
vuln:
	go run $(GOVULNCHECK) -tags $(TAGS) ./cmd/signet-acp-proxy

# What is linked into the program, and under which licence.
licences:
	./scripts/licences.sh

# Binaries, checksums and SBOMs in dist/, for the targets that there is a C compiler for.
release:
	./scripts/release.sh

clean:
	rm -rf bin dist e2e/node_modules e2e/harnesses/node_modules
