#!/bin/sh
# Counts lines of Go over 120 columns, package by package; a tab is four. Tables are left out: lines of a composite
# literal that stand in one row each, what a test gives and wants, a setting with its help, and a pattern, which is of
# one piece. -v prints the lines; -check says which are too long outside of tests, and fails.
set -eu
cd "$(dirname "$0")/.."
exec env LC_ALL=C awk -v mode="${1:-}" '
	{
		line = $0
		gsub(/\t/, "    ", line)
		gsub(/[\200-\277]/, "", line) # one byte of each character is left
	}
	length(line) > 120 && line !~ /^ *\{.*\},?( \/\/.*)?$/ && line !~ /^ *"[^"]*": / && line !~ /^ *[`"].*[`"],?$/ &&
	line !~ /help:"/ && line !~ /(pattern.New|MustCompile|begin)\([`"]/ {
		n = split(FILENAME, parts, "/")
		dir = substr(FILENAME, 1, length(FILENAME) - length(parts[n]) - 1)
		test = FILENAME ~ /_test\.go$/ ? " (tests)" : ""
		if (mode == "-check" && test) next
		count[dir test]++
		all++
		if (mode == "-v" || mode == "-check") print FILENAME ":" FNR ": " length(line)
	}
	END {
		if (mode == "-check") exit all > 0
		for (d in count) printf "%5d %s\n", count[d], d | "sort -rn"
		close("sort -rn")
		printf "%5d in all\n", all
	}
' $(git ls-files "*.go")
