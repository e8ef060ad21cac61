#!/bin/sh
# Builds the release binaries into dist/, with SHA256SUMS and an SBOM in CycloneDX for each.
#
# SQLite is C: a target is built with the compiler in CC_<os>_<arch>, else with one of the usual names, and is left out,
# with a word about it, where there is none. VERSION is git's description unless it is set.
set -eu
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --always --dirty)}
dist=dist
package=./cmd/signet-acp-proxy
rm -rf "$dist"
mkdir -p "$dist"

# compiler prints the C compiler for a target, nothing where there is none.
compiler() {
	eval "named=\${CC_$1_$2:-}"
	if [ -n "$named" ]; then
		echo "$named"
		return
	fi
	if [ "$1/$2" = "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" ]; then
		go env CC
		return
	fi
	case $1/$2 in
	linux/amd64) usual=x86_64-linux-gnu-gcc ;;
	linux/arm64) usual=aarch64-linux-gnu-gcc ;;
	darwin/amd64) usual=o64-clang ;;
	darwin/arm64) usual=oa64-clang ;;
	esac
	command -v "$usual" || true
}

left_out=
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	os=${target%/*} arch=${target#*/}
	cc=$(compiler "$os" "$arch")
	if [ -z "$cc" ]; then
		left_out="$left_out $target"
		echo "release: $target left out: no C compiler for it; name one in CC_${os}_$arch" >&2
		continue
	fi
	name=signet-acp-proxy-$version-$os-$arch
	echo "release: $name ($cc)"
	CGO_ENABLED=1 GOOS=$os GOARCH=$arch CC=$cc go build -trimpath -tags sqlite_fts5 -ldflags "-s -w -X main.version=$version" -o "$dist/$name" "$package"
	go run ./scripts/sbom "$dist/$name" "$version" >"$dist/$name.cdx.json"
done

cd "$dist"
if command -v sha256sum >/dev/null; then
	sha256sum signet-acp-proxy-* >SHA256SUMS
else
	shasum -a 256 signet-acp-proxy-* >SHA256SUMS
fi
cat SHA256SUMS
[ -z "$left_out" ] || echo "release: not built:$left_out" >&2
