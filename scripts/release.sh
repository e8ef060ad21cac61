#!/bin/sh
# Builds a release into dist/: an archive with a manual page for each system, an SBOM (CycloneDX) for each, deb and rpm for Linux, SHA256SUMS,
# NOTES.md, and what package managers and registries want to have (scripts/packages).
#
#   scripts/release.sh                          everything
#   TARGETS="linux/amd64" scripts/release.sh    these systems alone
#
# SQLite is taken in C where there is a C compiler for the target: the one in CC_<os>_<arch>, else one of the usual names. Elsewhere it is taken
# in Go, which needs twice the CPU; NOTES.md says which it is. VERSION is git's description unless it is set.
set -eu
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --always --dirty)}
version=${version#v}
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
dist=dist
package=./cmd/signet-acp-proxy
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4
rm -rf "$dist"
mkdir -p "$dist"
go build -tags sqlite_fts5 -o "$dist/here" "$package"
go run ./scripts/man "$dist/here" "$version" >"$dist/signet-acp-proxy.1"
rm "$dist/here"

# compiler prints the C compiler for a target, nothing where there is none.
compiler() {
	eval "named=\${CC_$1_$2:-}"
	if [ -n "$named" ]; then
		echo "$named"
		return
	fi
	case $1/$2 in
	"$(go env GOHOSTOS)/$(go env GOHOSTARCH)") usual=$(go env CC) ;;
	linux/amd64) usual=x86_64-linux-gnu-gcc ;;
	linux/arm64) usual=aarch64-linux-gnu-gcc ;;
	darwin/amd64) usual=o64-clang ;;
	darwin/arm64) usual=oa64-clang ;;
	windows/amd64) usual=x86_64-w64-mingw32-gcc ;;
	windows/arm64) usual=aarch64-w64-mingw32-gcc ;;
	*) return ;;
	esac
	command -v "$usual" || true
}

# pack puts a folder of dist into an archive whose bytes depend on nothing but its files.
pack() {
	case $1 in
	*-windows-*) go run ./scripts/archive "$dist/$1" "$dist/$1.zip" ;;
	*) go run ./scripts/archive "$dist/$1" "$dist/$1.tar.gz" ;;
	esac
}

{
	echo "# signet-acp-proxy $version"
	awk '/^## / { n++; next } n == 1' CHANGELOG.md | # the newest section
		sed "s|](docs/|](https://github.com/Signet-AI/signet-acp-proxy/blob/v$version/docs/|g"
	echo "| system | SQLite | tested |"
	echo "|---|---|---|"
} >"$dist/NOTES.md"

for target in $targets; do
	os=${target%/*} arch=${target#*/}
	name=signet-acp-proxy-$version-$os-$arch
	program=signet-acp-proxy
	[ "$os" != windows ] || program=$program.exe
	cc=$(compiler "$os" "$arch")
	tested="built and vetted, not run"
	[ "$target" != linux/amd64 ] || tested=yes
	mkdir "$dist/$name"
	tags=sqlite_fts5 flags="-s -w -X main.version=$version"
	if [ -n "$cc" ] && [ "$os" = linux ]; then # one program for every Linux, whichever C library it has
		tags="$tags netgo osusergo sqlite_omit_load_extension"
		flags="$flags -linkmode external -extldflags -static"
	fi
	if [ -n "$cc" ]; then
		echo "release: $name, SQLite in C ($cc)" >&2
		export CGO_ENABLED=1 CC="$cc"
		echo "| $target | in C | $tested |" >>"$dist/NOTES.md"
	else
		echo "release: $name, SQLite in Go: there is no C compiler for it; one can be named in CC_${os}_$arch" >&2
		export CGO_ENABLED=0
		echo "| $target | in Go: the same, for about twice the CPU | $tested |" >>"$dist/NOTES.md"
	fi
	GOOS=$os GOARCH=$arch go build -trimpath -tags "$tags" -ldflags "$flags" \
		-o "$dist/$name/$program" "$package"
	unset CGO_ENABLED CC
	cp LICENSE README.md CHANGELOG.md "$dist/signet-acp-proxy.1" "$dist/$name/"
	go run ./scripts/sbom "$dist/$name/$program" "$version" >"$dist/$name.cdx.json"
	pack "$name"
	if [ "$os" = linux ]; then
		for packager in deb rpm; do
			ARCH=$arch VERSION=$version FOLDER=$dist/$name GOFLAGS= go run "$nfpm" package --config packaging/nfpm.yaml \
				--packager $packager --target "$dist/$name.$packager"
		done
	fi
done
rm "$dist/signet-acp-proxy.1"

(
	cd "$dist"
	files=$(find . -maxdepth 1 -name 'signet-acp-proxy-*' -type f | sed 's|^\./||' | sort)
	if command -v sha256sum >/dev/null; then
		sha256sum $files >SHA256SUMS
	else
		shasum -a 256 $files >SHA256SUMS
	fi
)
go run ./scripts/packages . "$dist" "$version"
if command -v npm >/dev/null; then
	(cd "$dist/npm" && for folder in */; do npm pack --silent "./$folder" >/dev/null; done)
fi
for target in $targets; do
	rm -r "$dist/signet-acp-proxy-$version-${target%/*}-${target#*/}"
done
cat "$dist/SHA256SUMS"
