package bounds

import (
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// system has what every program reads: itself, its libraries, names of users and hosts, certificates.
var system = []string{"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc", "/opt", "/proc", "/sys",
	"/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/current-system", "/nix/store",
	"/gnu/store", "/snap", "/var/lib/snapd", "/var/lib/ca-certificates", "/mnt/wsl/resolv.conf"}

// toolFolders are the folders below a home in which toolchains and package caches lie.
var toolFolders = []string{
	".local/bin", ".npm-global", ".yarn/bin", ".opencode/bin", ".nvm", ".fnm", ".local/share/fnm", ".volta", ".bun/bin", ".bun/install", ".deno/bin", ".npm/_cacache",
	".npm/_npx", ".local/share/pnpm", ".cache/node", ".cache/yarn", ".cache/pnpm",
	".pyenv", ".local/share/uv", ".local/share/pipx", ".local/lib", ".cache/uv", ".cache/pip",
	".cargo/bin", ".cargo/registry", ".cargo/git", ".rustup", "go/bin", "go/pkg", "sdk",
	".rbenv", ".gem", ".asdf", ".local/share/mise", ".sdkman/candidates", ".m2/repository", ".gradle/caches",
	".gradle/wrapper", ".dotnet", ".nuget/packages", ".local/share/claude",
}

// toolVariables say where a toolchain lies that looks for itself below HOME, which a child has its own of. None of
// these folders is written to where all is there already.
var toolVariables = map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "NVM_DIR": ".nvm",
	"VOLTA_HOME": ".volta", "RBENV_ROOT": ".rbenv", "ASDF_DATA_DIR": ".asdf", "GOMODCACHE": "go/pkg/mod",
	"DOTNET_ROOT": ".dotnet"}

// tools are programs whose folders are looked for on PATH.
var tools = []string{"node", "npm", "python3", "python", "go", "rustc", "cargo", "bun", "deno", "uv", "java", "ruby",
	"dotnet", "git", "gcc"}

// keysOfRoot are what others than root cannot read anyway.
var keysOfRoot = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers",
	"/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/wireguard",
	"/etc/NetworkManager/system-connections", "/etc/krb5.keytab", "/etc/kubernetes", "/etc/rancher"}

// keys returns what is closed to everybody who is bounded, where the files' modes do not close it.
func keys() []string {
	if os.Geteuid() != 0 {
		return nil
	}
	return keysOfRoot
}

// homes returns the folders of the user, by the environment and by the system.
func homes(env []string) []string {
	all := []string{value(env, "HOME")}
	if u, err := user.Current(); err == nil {
		all = append(all, u.HomeDir)
	}
	all = slices.DeleteFunc(all, func(home string) bool {
		return !filepath.IsAbs(home) || filepath.Clean(home) == "/"
	})
	return real(all)
}

// toolchains returns the folders of the programs on PATH that are not the user's own work, and those that we know below
// a home. What else lies in a home, in the caller's folder or in a repository has other files beside it.
func toolchains(env []string, closed []string) []string {
	var all []string
	for _, home := range homes(env) {
		for _, name := range toolFolders {
			all = append(all, filepath.Join(home, name))
		}
	}
	bins := binaries(env)
	for _, tool := range tools {
		if path, err := exec.LookPath(tool); err == nil {
			if path, err = filepath.EvalSymlinks(path); err == nil {
				bins = append(bins, filepath.Dir(path))
			}
		}
	}
	for _, dir := range real(bins) {
		if holdsAny(dir, closed) || heldByAny(dir, closed) || inRepository(dir) {
			continue
		}
		all = append(all, dir)
		if root := filepath.Dir(dir); isToolchain(root) && !holdsAny(root, closed) {
			all = append(all, root)
		}
	}
	return all
}

// binaries returns the folders on PATH.
func binaries(env []string) []string {
	return slices.DeleteFunc(filepath.SplitList(value(env, "PATH")), func(dir string) bool {
		return !filepath.IsAbs(dir)
	})
}

// inRepository reports whether a folder is one of git's, or in one: somebody works there.
func inRepository(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if holdsGit(dir) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func holdsGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// isToolchain reports whether a folder is one with programs in bin, and beside it what they need, and nothing else. A
// home's .local has all kinds of things.
func isToolchain(dir string) bool {
	if filepath.Base(dir) == ".local" {
		return false
	}
	return slices.ContainsFunc([]string{"lib", "lib64", "libexec", "pkg", "pyvenv.cfg", "conda-meta"},
		func(name string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		})
}

// packageOf returns the folder of the package that a file belongs to, else the file itself.
func packageOf(file string, closed []string) string {
	if i := strings.Index(file, "/node_modules/"); i > 0 {
		if dir := file[:i+len("/node_modules")]; !holdsAny(dir, closed) {
			return dir
		}
	}
	dir := filepath.Dir(file)
	for range 4 {
		if holdsAny(dir, closed) || holdsGit(dir) {
			break
		}
		for _, mark := range []string{"package.json", "pyproject.toml", "pyvenv.cfg"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		dir = filepath.Dir(dir)
	}
	return file
}

// absolute returns the paths that a command line names. A word may also be NAME=PATH.
func absolute(command []string) []string {
	var all []string
	for _, word := range command {
		if i := strings.IndexByte(word, '='); i >= 0 && !filepath.IsAbs(word) {
			word = word[i+1:]
		}
		if filepath.IsAbs(word) {
			all = append(all, word)
		}
	}
	return all
}

// filesOf returns the files that a command line names, and the packages that they belong to.
func filesOf(command, closed []string) []string {
	var all []string
	for _, word := range absolute(command) {
		path, err := filepath.EvalSymlinks(word)
		if err != nil || holdsAny(path, closed) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			all = append(all, packageOf(path, closed))
		}
		all = append(all, path)
	}
	return all
}

// holds reports whether a folder is, or holds, a path.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func holdsAny(dir string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return holds(dir, path) })
}

func heldByAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return holds(dir, path) })
}

// real returns the paths that are there, with symbolic links followed, each once.
func real(paths []string) []string {
	var all []string
	for _, path := range paths {
		if path, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// links returns the symbolic links by which paths lead to where they end.
func links(paths []string) []string {
	var all []string
	for _, path := range paths {
		for at, left := "/", strings.Split(path, "/"); len(left) > 0 && len(left) < 200; {
			next := filepath.Join(at, left[0])
			left = left[1:]
			to, err := os.Readlink(next)
			if err != nil {
				at = next
				continue
			}
			all = append(all, next)
			if filepath.IsAbs(to) {
				at = "/"
			}
			left = append(strings.Split(to, "/"), left...)
		}
	}
	return all
}

// without returns a list that leaves out what is closed: rules can only add, so a folder that holds something closed is
// replaced by what else is in it. Links are such as lie there.
func without(paths, closed []string) (all, links []string) {
	for _, path := range paths {
		switch {
		case slices.Contains(closed, path):
		case !holdsAny(path, closed):
			all = append(all, path)
		default:
			entries, err := os.ReadDir(path)
			if err != nil {
				continue
			}
			var inside []string
			for _, e := range entries {
				if e.Type()&fs.ModeSymlink == 0 {
					inside = append(inside, filepath.Join(path, e.Name()))
				} else { // where it leads is on the list itself, or is not
					links = append(links, filepath.Join(path, e.Name()))
				}
			}
			more, moreLinks := without(inside, closed)
			all, links = append(all, more...), append(links, moreLinks...)
		}
	}
	return all, links
}
