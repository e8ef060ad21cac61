#!/bin/sh
# What must pass before a change goes in, with a line for each step and what it took.
#
#   scripts/test.sh             everything
#   scripts/test.sh ./proxy     the short form: formatting, vet, staticcheck and tests of these packages alone
set -eu
cd "$(dirname "$0")/.."
. scripts/beat.sh

export GORACE=atexit_sleep_ms=0 # else what the race detector watches ends a second late, each program of a test, too
hangs=40m # a package whose tests take longer; a slow machine does not
tags=sqlite_fts5 # takes SQLite in C; without it the build takes SQLite in Go
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# step WHAT COMMAND… says what it does, does it, and says how long that took.
step() {
	echo "== $1"
	shift
	began=$(date +%s)
	beat "$@" || { echo "== failed: $*" >&2; exit 1; }
	echo "   $(($(date +%s) - began)) s"
}

formatted() {
	unformatted=$(gofmt -l $(git ls-files '*.go'))
	test -z "$unformatted" || { echo "not gofmt clean: $unformatted"; return 1; }
}

# limits is the one thing here that is timed: ratios to a floor that is measured in the same run, the best of several rounds, and again if
# that was not enough. make bench FLAGS=-limits looks at everything. Prompts of 4 KB are left out: each waits for its end to be in the file
# of events, which on a busy machine takes several times the floor's time.
limits() {
	mkdir -p bin
	go build -tags $tags -o bin/signet-acp-proxy ./cmd/signet-acp-proxy
	go run ./e2e/bench -proxy bin/signet-acp-proxy -rounds 3 -only '^(tokens|down|up-[12])' -limits -slack 2 -tries 4
}

if [ $# -gt 0 ] && [ "$1" != ./... ]; then
	step "gofmt" formatted
	step "go vet $*" go vet -tags $tags "$@"
	step "staticcheck $*" go run $staticcheck -tags $tags "$@"
	step "tests of $*, with the race detector" go test -race -tags $tags -timeout $hangs "$@"
	exit
fi

step "gofmt" formatted
step "lines of 120 columns at most" ./scripts/lines.sh -check
step "go vet" go vet -tags $tags ./...
quick='-gcflags=all=-N -l' # what nobody runs is compiled without optimizing, in two thirds of the time
step "go vet for macOS" env CGO_ENABLED=0 GOOS=darwin go vet "$quick" -tags $tags ./...
step "go vet for Windows" env CGO_ENABLED=0 GOOS=windows go vet "$quick" -tags $tags ./...
step "staticcheck" go run $staticcheck -tags $tags ./...
step "actionlint" go run $actionlint
# Everything is tested once without the race detector, which takes several times as long. It watches packages that start
# goroutines, and elsewhere the tests that do, with -short: fewer seeds and sizes, and nothing that has one goroutine.
starts='[[:space:]]go (func|[A-Za-z.]+)\(|\.Go\('
dirs() { xargs -n1 dirname | sort -u | sed 's,^,./,'; }
threaded=$(git grep -lE "$starts" -- '*.go' ':!*_test.go' ':!e2e' | dirs)
concurrent=$(git grep -lE "$starts" -- '*_test.go' ':!e2e' | dirs | grep -vxF "$threaded")
names=$(git grep -hpE "$starts" -- $(echo "$concurrent" | sed 's,$,/*_test.go,') | sed -nE 's/^func (Test[A-Za-z0-9]+).*/\1/p' | paste -sd '|' -)
race="go test -race -short -vet=off -tags $tags -timeout $hangs"
step "tests of what starts goroutines, with the race detector" $race ./proxy ./delivery $threaded
step "tests that start goroutines, with the race detector" $race -run "^($names)\$" $concurrent
step "tests, and those of the whole program" go test -vet=off -tags $tags -timeout $hangs ./e2e ./...
step "speed of streams beside cat | agent | cat, limits doubled" limits
step "tests with SQLite in Go" go test -vet=off -timeout $hangs ./migrations/... ./sqlite/... ./correlation/... ./memory/embedded/... ./cmd/signet-acp-proxy
step "build without cgo" env CGO_ENABLED=0 go build ./...
