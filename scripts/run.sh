#!/bin/sh
# make run: looks for what it needs, builds the proxy, the echo agent and what runs them (all at once, so that SQLite in
# C, the longest piece, waits for nothing), and has the two sessions: run.sh TAGS PROXY ECHO [FLAG…]
set -eu
need() {
	command -v "$1" >/dev/null || { echo "run: $1 is not on PATH: install $2" >&2; exit 1; }
}
need go 'Go (https://go.dev/dl)'
need npm 'Node.js 22 or newer (https://nodejs.org), which brings npm'
tags=$1 proxy=$2 echo=$3
shift 3
bin=$(dirname "$proxy")
mkdir -p "$bin"
printf 'building the proxy and the echo agent …'
go build -tags "$tags" -o "$bin" ./cmd/signet-acp-proxy ./e2e/echoagent ./e2e/run &
build=$!
trap 'kill "$build"; exit 130' INT TERM
begun=$(date +%s)
polls=0
while kill -0 "$build" 2>/dev/null; do
	sleep 0.2
	polls=$((polls + 1))
	if [ $((polls % 20)) = 0 ]; then printf ' %d s …' $(($(date +%s) - begun)); fi
done
wait "$build"
trap - INT TERM
echo
exec "$bin/run" -proxy "$proxy" -echo "$echo" "$@"
