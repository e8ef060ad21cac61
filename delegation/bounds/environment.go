package bounds

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// keptVariables are those that a child keeps beside its provider's and those that a person names. One that ends in *
// stands for all that begin so.
var keptVariables = []string{
	"LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "PATH", "USER", "LOGNAME", "SHELL",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"npm_config_registry", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN",
	"SIGNET_NO_HOOKS", "SIGNET_BYPASS", "SIGNET_ACP_PARENT", "SIGNET_ACP_DELEGATION", "SIGNET_ACP_DELEGATION_ID",
	"SIGNET_ACP_DELEGATION_DEPTH", "SIGNET_ACP_DELEGATION_MODE",
}

// certificates are the variables that name files with certificates.
var certificates = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
	"CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NIX_SSL_CERT_FILE", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE"}

// keep returns what a child gets of an environment.
func keep(env, more []string) []string {
	names := slices.Concat(keptVariables, certificates, more)
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.ContainsFunc(names, func(pattern string) bool {
			start, open := strings.CutSuffix(pattern, "*")
			return name == pattern || open && strings.HasPrefix(name, start)
		})
	})
}

// value returns a variable's value, "" for one that is not set.
func value(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			return text
		}
	}
	return ""
}

// named returns the files that the values of variables name.
func named(env, variables []string) []string {
	var files []string
	for _, name := range variables {
		if path := value(env, name); filepath.IsAbs(path) {
			files = append(files, path)
		}
	}
	return files
}

// environment returns the variables of a harness whose state is in own.
func environment(own string, h upstream.Profile, env, chosen []string) []string {
	with := append(keep(env, slices.Concat(h.Variables, chosen)), "HOME="+own, "TMPDIR="+filepath.Join(own, tmpName),
		"XDG_CONFIG_HOME="+filepath.Join(own, ".config"), "XDG_CACHE_HOME="+filepath.Join(own, ".cache"),
		"XDG_DATA_HOME="+filepath.Join(own, ".local/share"), "XDG_STATE_HOME="+filepath.Join(own, ".local/state"))
	for name, folder := range toolVariables {
		at := cmp.Or(value(env, name), filepath.Join(value(env, "HOME"), folder))
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			with = append(with, name+"="+at)
		}
	}
	with = append(with, h.Bounded...)
	for _, home := range h.Homes {
		if home.Variable != "" {
			with = append(with, home.Variable+"="+filepath.Join(own, filepath.FromSlash(home.Folder)))
		}
	}
	return with
}
