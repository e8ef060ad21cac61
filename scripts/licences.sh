#!/bin/sh
# Lists the modules that are linked into the program on Linux, macOS and Windows, with SQLite in C and in Go, with the kind
# of licence that each one carries, and fails for one that is not known to go with ours.
set -eu
cd "$(dirname "$0")/.."

# kind prints what licence a module's folder holds.
kind() {
	file=$(find "$1" -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' \) | sort | head -n 1)
	[ -n "$file" ] || return 0
	if grep -q 'Apache License' "$file"; then
		echo Apache-2.0
	elif grep -q 'Mozilla Public License' "$file"; then
		echo MPL-2.0
	elif grep -qi 'permission is hereby granted, free of charge' "$file"; then
		echo MIT
	elif grep -q 'Redistribution and use in source and binary forms' "$file"; then
		echo BSD
	fi
}

modules=$(for os in linux darwin windows; do
	for cgo in 1 0; do
		CGO_ENABLED=$cgo GOOS=$os go list -deps -tags sqlite_fts5 -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/signet-acp-proxy
	done
done | sort -u)

unknown=0
while read -r path version dir; do
	licence=$(kind "$dir")
	[ -n "$licence" ] || unknown=1
	printf '%-45s %-12s %s\n' "$path" "$version" "${licence:-UNKNOWN}"
done <<END
$modules
END
exit $unknown
