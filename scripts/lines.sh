#!/bin/sh
# Counts lines over 120 columns, package by package; a tab is four. Tables are left out: lines of a composite literal that stand in one row each, and
# what a test gives and wants. -v prints the lines.
set -eu
cd "$(dirname "$0")/.."
exec awk -v verbose="${1:-}" '
	{
		line = $0
		gsub(/\t/, "    ", line)
	}
	length(line) > 120 && line !~ /^ *\{.*\},?( \/\/.*)?$/ && line !~ /^ *"[^"]*": / && line !~ /^ *[`"].*[`"],?$/ {
		n = split(FILENAME, parts, "/")
		dir = substr(FILENAME, 1, length(FILENAME) - length(parts[n]) - 1)
		test = FILENAME ~ /_test\.go$/ ? " (tests)" : ""
		count[dir test]++
		all++
		if (verbose == "-v") print FILENAME ":" FNR ": " length(line)
	}
	END {
		for (d in count) printf "%5d %s\n", count[d], d | "sort -rn"
		close("sort -rn")
		printf "%5d in all\n", all
	}
' $(git ls-files "*.go")
