#!/bin/sh
# Tries what is in dist/ (scripts/release.sh): checksums, and the archive, the npm package and the deb of this machine's system, each installed
# into a root of its own: init, a conversation that is remembered in the next session, uninstall. publish-check.sh TAGS
set -eu
cd "$(dirname "$0")/.."
tags=$1
dist=$PWD/dist
os=$(go env GOHOSTOS) arch=$(go env GOHOSTARCH)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -tags "$tags" -o "$work/tools/" ./e2e/echoagent ./e2e/run

step() { echo "publish-check: $1" >&2; }
missing() { echo "publish-check: $1 not tried: $2" >&2; }

step checksums
(cd "$dist" && if command -v sha256sum >/dev/null; then sha256sum --quiet -c SHA256SUMS; else shasum -a 256 -c SHA256SUMS; fi)
for file in NOTES.md packaging/homebrew.rb packaging/nix.nix packaging/server.json packaging/agent.json; do
	[ -s "$dist/$file" ] || { echo "publish-check: $file is missing" >&2; exit 1; }
done
step 'signatures: SHA256SUMS is signed by .github/workflows/release.yml, which holds no key'

# try NAME PROGRAM: what a person does first, in a HOME of its own.
try() {
	step "$1: $("$2" --version)"
	home=$work/$1/home
	mkdir -p "$home"
	env -u SIGNET_PATH HOME="$home" "$2" init --yes >"$work/$1/init"
	[ -s "$home/.agents/IDENTITY.md" ] || { echo "publish-check: $1: init made no folder" >&2; exit 1; }
	"$work/tools/run" -proxy "$2" -echo "$work/tools/echoagent" >"$work/$1/run" || { cat "$work/$1/run" >&2; exit 1; }
	env -u SIGNET_PATH HOME="$home" "$2" uninstall --yes >"$work/$1/uninstall" 2>&1
	[ ! -e "$home/.agents/acp" ] || { echo "publish-check: $1: uninstall left recordings" >&2; exit 1; }
}

archive=$(find "$dist" -maxdepth 1 -name "signet-acp-proxy-*-$os-$arch.tar.gz")
if [ -n "$archive" ]; then
	mkdir -p "$work/archive"
	tar -xzf "$archive" -C "$work/archive" --strip-components 1
	try archive "$work/archive/signet-acp-proxy"
else
	missing archive "there is none for $os/$arch"
fi

node=$(node -p 'process.platform + "-" + process.arch' 2>/dev/null || true)
if [ -n "$node" ] && [ -n "$(find "$dist/npm" -maxdepth 1 -name "signet-acp-proxy-$node-*.tgz")" ]; then
	mkdir -p "$work/npm"
	# by their files, because the registry does not have them yet
	npm install --silent --no-audit --no-fund --offline --prefix "$work/npm" \
		"$(find "$dist/npm" -maxdepth 1 -name "signet-acp-proxy-$node-*.tgz")" \
		"$(find "$dist/npm" -maxdepth 1 -name 'signet-acp-proxy-[0-9]*.tgz')" >/dev/null
	try npm "$work/npm/node_modules/.bin/signet-acp-proxy"
else
	missing npm "npm or the package for this system is missing"
fi

deb=$(find "$dist" -maxdepth 1 -name "signet-acp-proxy-*-linux-$arch.deb")
if [ "$os" = linux ] && [ -n "$deb" ] && command -v dpkg-deb >/dev/null; then
	mkdir -p "$work/deb/root"
	dpkg-deb -x "$deb" "$work/deb/root"
	[ -s "$work/deb/root/usr/share/man/man1/signet-acp-proxy.1" ] || { echo "publish-check: the deb has no manual page" >&2; exit 1; }
	try deb "$work/deb/root/usr/bin/signet-acp-proxy"
else
	missing deb "dpkg-deb or the package is missing"
fi
step "ready; docs/releasing.md has the steps that need a person"
