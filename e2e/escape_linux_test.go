package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A child with a shell tries to get out of its bounds. Each try is a command that succeeds only if it is out; CALLER,
// REAL and SIGNET are the caller's folder, HOME and Signet folder, RELAY the process of ours that started it.
var escapes = []struct{ name, command string }{
	{"write beside", `echo x > "$CALLER/heron.txt"`},
	{"truncate beside", `truncate -s 0 "$CALLER/heron.txt"`},
	{"remove beside", `rm "$CALLER/heron.txt"`},
	{"rename beside", `mv "$CALLER/heron.txt" "$CALLER/egret.txt"`},
	{"write to HOME", `echo x > "$REAL/x"`},
	{"write to the temp folder", `echo x > /tmp/signet-escaped`},
	{"write settings", `echo x >> "$REAL/.claude/settings.json"`},
	{"write through a link", `ln -s "$REAL/.bashrc" "$HOME/l" && echo x >> "$HOME/l"`},
	{"take a file in", `ln "$CALLER/heron.txt" "$HOME/linked"`},
	{"put a file out", `echo x > "$HOME/out" && mv "$HOME/out" "$CALLER/out"`},
	{"read a key", `cat "$REAL/.ssh/id_x"`},
	{"read a login of another agent", `cat "$REAL/.codex/auth.json"`},
	{"list HOME", `ls "$REAL"`},
	{"read the caller's folder", `cat "$CALLER/.env"`},
	{"list the Signet folder", `ls "$SIGNET"`},
	{"read the database", `cat "$SIGNET/acp/sessions.db"`},
	{"write to the database", `echo x >> "$SIGNET/acp/sessions.db"`},
	{"write identity", `echo x > "$SIGNET/SOUL.md"`},
	{"read another child's tree", `cat "$SIGNET/acp/work/other/work/f"`},
	{"write to another child's tree", `echo x > "$SIGNET/acp/work/other/work/f"`},
	{"write a hook", `echo x > "$CALLER/.git/hooks/pre-commit"`},
	{"write git's configuration", `git -C "$CALLER" config core.fsmonitor /bin/true`},
	{"make a branch", `git -C "$CALLER" branch escaped`},
	{"signal its relay", `kill -0 $RELAY`},
	{"signal the test", `kill -0 $TEST`},
	{"read the relay's environment", `cat /proc/$RELAY/environ`},
	{"read the relay's memory", `head -c 1 /proc/$RELAY/mem`},
	{"open the relay's files", `readlink /proc/$RELAY/fd/1`},
	{"go by the relay's root", `cat /proc/$RELAY/root$REAL/.ssh/id_x`},
	{"read secrets of others in the environment", `env | grep -E '^(SSH_AUTH_SOCK|DBUS_|XDG_RUNTIME|DOCKER|OPENAI|SIGNET_T|SIGNET_P)'`},
	{"make a disk's device", `mknod "$HOME/disk" b 8 0`},
	{"mount", `mount -t tmpfs none "$HOME"`},
	{"read the password file", `cat /etc/shadow`},
	{"write to the system", `echo x > /usr/local/bin/escaped`},
	{"use a socket by its path", `python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$SOCKET"`},
	{"use the command", `"$PROXY" delegations --signet-path "$SIGNET" --db "$SIGNET/acp/sessions.db"`},
}

// limits are what docs/delegation.md#what-the-system-does-not-stop says that nothing stops.
var limits = []struct{ name, command string }{
	{"the network", `python3 -c 'import socket,sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' $PORT`},
}

// needs are what must work.
var needs = []struct{ name, command string }{
	{"its temp folder", `f=$(mktemp) && echo x > "$f"`},
	{"its HOME", `mkdir -p "$HOME/.config/a" && echo x > "$HOME/.config/a/b"`},
	{"devices", `head -c 1 /dev/zero > /dev/null && head -c 1 /dev/urandom > /dev/shm/signet-$$ && rm /dev/shm/signet-$$`},
	{"a terminal", `python3 -c 'import pty; pty.openpty()'`},
	{"git", `git log --oneline -1 && git status --short`},
	{"signals to its own", `sleep 9 & kill $!`},
	{"reading the tree", `cat heron.txt`},
	{"its id", `test ${#SIGNET_ACP_DELEGATION_ID} = 26`},
	{"its caller's setting", `"$PROXY" config get delegation | grep -x true`},
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"read", "edit"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b, script := escaping(t)
			call, err := json.Marshal([]string{"sh", "-c", script})
			must(b, err)
			b.agents(map[string][]string{"heron": {"ECHOAGENT_ASK=1", "ECHOAGENT_CALL=" + string(call)}})
			before := b.listing(b.Work, b.Home)
			b.run(ask("heron", "--mode", mode, "Get out.")...)
			d := b.delegations()[0]
			said := map[string]string{}
			for _, m := range regexp.MustCompile(`(?m)^(out|held|works|broken|open|shut|tree): (.*)$`).
				FindAllStringSubmatch(d.Answer, -1) {
				said[m[2]] = m[1]
			}
			for _, e := range escapes {
				if said[e.name] != "held" {
					t.Errorf("%s: %q", e.name, said[e.name])
				}
			}
			for _, e := range needs {
				if said[e.name] != "works" {
					t.Errorf("%s: %q", e.name, said[e.name])
				}
			}
			for _, e := range limits {
				if said[e.name] != "open" {
					t.Errorf("%s, which docs say is open: %q", e.name, said[e.name])
				}
			}
			if written := said["written"] == "tree"; written != (mode == "edit") {
				t.Errorf("its tree was written to: %v", written)
			}
			if t.Failed() {
				t.Log(d.Answer)
			}
			if len(d.Refused) != 1 {
				t.Errorf("refused: %q", d.Refused)
			}
			b.wait("the end of what forked away", func() bool {
				all, err := b.Processes()
				must(b, err)
				return !strings.Contains(fmt.Sprint(all), "sleep 305")
			})
			if after := b.listing(b.Work, b.Home); after != before {
				t.Errorf("the caller's files, before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// escaping is a box with all that there is to be had, and the script that tries to get it.
func escaping(t *testing.T) (*box, string) {
	b := delegating(t, nil)
	for name, text := range map[string]string{
		"home/.ssh/id_x": "key", "home/.codex/auth.json": "{}", "home/.claude/settings.json": "{}", "home/.bashrc": "",
		"home/.agents/SOUL.md": "mild", "home/.agents/acp/work/other/work/f": "theirs", "work/.env": "secret",
	} {
		path := filepath.Join(b.Dir, name)
		must(b, os.MkdirAll(filepath.Dir(path), 0o700))
		must(b, os.WriteFile(path, []byte(text), 0o600))
	}
	socket := filepath.Join(b.Dir, "docker.sock")
	port := 0
	for _, at := range [][2]string{{"unix", socket}, {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(at[0], at[1])
		must(b, err)
		t.Cleanup(func() { l.Close() })
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			port = tcp.Port
		}
	}
	b.set("SSH_AUTH_SOCK="+socket, "DBUS_SESSION_BUS_ADDRESS=x", "XDG_RUNTIME_DIR="+b.Dir, "DOCKER_HOST=x",
		"OPENAI_API_KEY=sk-x", "SIGNET_TOKEN=x", "SIGNET_ACP_DELEGATION=on")
	var s strings.Builder
	fmt.Fprintf(&s, "CALLER=%s REAL=%s SIGNET=%s SOCKET=%s PORT=%d TEST=%d PROXY=%s\n", b.Work, b.Home, b.Signet, socket,
		port, os.Getpid(), proxyBin)
	s.WriteString("RELAY=$(sed 's/.*) //' /proc/$PPID/stat | cut -d' ' -f2)\n")
	try := func(name, command, yes, no string) {
		fmt.Fprintf(&s, "if (%s) >/dev/null 2>&1; then echo \"%s: %s\"; else echo \"%s: %s\"; fi\n", command, yes, name, no,
			name)
	}
	for _, e := range escapes {
		try(e.name, e.command, "out", "held")
	}
	for _, e := range needs {
		try(e.name, e.command, "works", "broken")
	}
	for _, e := range limits {
		try(e.name, e.command, "open", "shut")
	}
	try("written", `echo x > ours.txt`, "tree", "shut")
	s.WriteString("setsid -f sleep 305 >/dev/null 2>&1 </dev/null\ntrue\n")
	return b, s.String()
}

// listing is what lies in folders: names, sizes and modes, but for what our own programs write.
func (b *box) listing(folders ...string) string {
	b.t.Helper()
	var s strings.Builder
	for _, folder := range folders {
		must(b, filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if rel, _ := filepath.Rel(b.Signet, path); rel == "acp" {
				return filepath.SkipDir
			}
			if e.Name() == "objects" || e.Name() == "refs" || e.Name() == "worktrees" || e.Name() == "logs" {
				return filepath.SkipDir
			}
			info, err := e.Info()
			if err == nil && !e.IsDir() {
				fmt.Fprintf(&s, "%s %d %v\n", path, info.Size(), info.Mode())
			}
			return err
		}))
	}
	return s.String()
}
