package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
)

// A hostile child tries to get out of its bounds. Each try is a command that succeeds only if it is out, and says what
// held it; CALLER, REAL and SIGNET are the caller's folder, HOME and Signet folder, RELAY the process of ours that
// started it, HOSTILE the program that makes the calls that no shell makes.
var escapes = []try{
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
	{"read the caller's folder by PATH", `cat "$CALLER/config/master.key"`},
	{"run what lies in the caller's folder", `"$CALLER/bin/tool"`},
	{"connect to a socket by its path", `"$HOSTILE" connect "$SOCKET"`},
	{"connect to a session's socket", `"$HOSTILE" connect "$SESSION"`},
	{"connect to an abstract socket", `"$HOSTILE" connect "$ABSTRACT"`},
	{"send to a socket from half a pair", `"$HOSTILE" datagram "$DATAGRAM"`},
	{"have a ring connect", `"$HOSTILE" ring`},
	{"make calls of another processor", `"$HOSTILE" foreign`},
	{"read the user's keys", `"$HOSTILE" keys`},
	{"type into a terminal", `"$HOSTILE" type`},
	{"limit the user's processes", `"$HOSTILE" limit $TEST`},
	{"start processes without end", `"$HOSTILE" processes`},
	{"make a setuid file", `"$HOSTILE" setuid "$HOME/setuid"`},
	{"use the command", `"$PROXY" delegations --signet-path "$SIGNET" --db "$SIGNET/acp/sessions.db"`},
}

// apart are escapes that only a root of its own stops (docs/delegation.md#what-the-system-does-not-stop).
var apart = []try{
	{"see that a file is there", `test -e "$REAL/.ssh/id_x" || { echo "it is not there" >&2; false; }`},
	{"change a file's mode", `chmod 600 "$REAL/.bashrc"`},
	{"open memory that others share", `"$HOSTILE" shared $SHARED`},
	{"open a terminal of the user's", `test "$(ls /dev/pts | grep -c '[0-9]')" != 0 || { echo "there is none" >&2; false; }`},
}

// limits are what that page says that nothing stops.
var limits = []try{
	{"the network", `python3 -c 'import socket,sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' $PORT`},
}

// needs are what must work.
var needs = []try{
	{"its temp folder", `f=$(mktemp) && echo x > "$f"`},
	{"its HOME", `mkdir -p "$HOME/.config/a" && echo x > "$HOME/.config/a/b"`},
	{"devices", `head -c 1 /dev/zero > /dev/null && head -c 1 /dev/urandom > /dev/null`},
	{"a socket pair", `python3 -c 'import socket; a, b = socket.socketpair(); a.send(b"x"); b.recv(1)'`},
	{"a terminal", `python3 -c 'import pty; pty.openpty()'`},
	{"git", `git log --oneline -1 && git status --short`},
	{"signals to its own", `sleep 9 & kill $!`},
	{"reading the tree", `cat heron.txt`},
	{"its id", `test ${#SIGNET_ACP_DELEGATION_ID} = 26`},
	{"its caller's setting", `"$PROXY" config get delegation | grep -x true`},
}

// needsApart are what works only in a root of its own.
var needsApart = []try{
	{"shared memory", `echo x > /dev/shm/signet-$$ && rm /dev/shm/signet-$$`},
	{"a socket of its own", `cd "$HOME" && python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("own.sock"); s.listen();
c = socket.socket(socket.AF_UNIX); c.connect("own.sock")'`},
}

// A try is a command of a child's, and what it is for.
type try struct{ name, command string }

// withoutNamespaces has a program run where it can make none, as in many containers.
var withoutNamespaces = []string{"unshare", "-Ur", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`,
	"sh"}

// TestRedteam is `make redteam`: with -v, a line for each try says what stopped it.
func TestRedteam(t *testing.T) {
	t.Parallel()
	if err := bounds.Check(); err != nil {
		t.Skipf("this kernel bounds nobody, and nobody is asked here: %v", err)
	}
	namespaces := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt").Run() == nil
	for _, tt := range []struct {
		mode  string
		apart bool
	}{{"read", true}, {"edit", true}, {"read", false}} {
		t.Run(fmt.Sprintf("%s, namespaces %v", tt.mode, tt.apart), func(t *testing.T) {
			t.Parallel()
			mode := tt.mode
			var wrap []string
			switch {
			case tt.apart && !namespaces:
				t.Skip("no namespaces can be made here: only the other walls are tried")
			case !tt.apart && exec.Command(withoutNamespaces[0], append(withoutNamespaces[1:], "true")...).Run() == nil:
				wrap = withoutNamespaces
			case !tt.apart && namespaces:
				t.Skip("namespaces cannot be taken away here: only the walls with them are tried")
			}
			b, script := escaping(t)
			call, err := json.Marshal([]string{"sh", "-c", script})
			must(b, err)
			b.agents(map[string][]string{"heron": {"ECHOAGENT_ASK=1", "ECHOAGENT_CALL=" + string(call),
				"HOSTILE=" + hostileBin,
				`ECHOAGENT_TOOL={"name":"memory_list"}`}})
			before := b.listing(b.Work, b.Home)
			b.run(append(wrap, ask("heron", "--mode", mode, "Get out.")...)...)
			d := b.delegations()[0]
			said := map[string]string{}
			for _, m := range regexp.MustCompile(`(?m)^(out|held|works|broken|open|shut|tree): ([^|\n]*)\|?(.*)$`).
				FindAllStringSubmatch(d.Answer, -1) {
				said[m[2]] = m[1]
				if m[1] == "held" {
					t.Logf("%-40s %s", m[2], cmp.Or(strings.TrimSpace(m[3]), "there is nothing"))
				}
			}
			expect := func(want string, tries []try) {
				for _, e := range tries {
					if said[e.name] != want {
						t.Errorf("%s: %q, want %s", e.name, said[e.name], want)
					}
				}
			}
			expect("held", escapes)
			expect("works", needs)
			expect("open", limits)
			if !strings.Contains(d.Answer, "The tool said (error: false)") {
				t.Error("it has no memory tools")
			}
			if tt.apart {
				expect("held", apart)
				expect("works", needsApart)
			} else {
				expect("broken", needsApart)
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
			if mode == "edit" {
				b.applied(d.ID)
			}
		})
	}
}

// steering are files by which a child would run something on the user's side, once its work is applied.
var steering = []string{".claude/settings.json", ".envrc", ".mcp.json", "AGENTS.md"}

// applied applies a child's work: what runs or steers programs is named and held back.
func (b *box) applied(id string) {
	b.t.Helper()
	r := b.try(proxyBin, "delegations", "apply", id)
	if _, err := os.Stat(filepath.Join(b.Work, "ours.txt")); err != nil {
		b.t.Errorf("its work was not applied: %v\n%s%s", err, r.Stdout, r.Stderr)
	}
	for _, name := range steering {
		if _, err := os.Lstat(filepath.Join(b.Work, name)); err == nil || !strings.Contains(r.Stdout+r.Stderr, name) {
			b.t.Errorf("%s came back, or is not named:\n%s%s", name, r.Stdout, r.Stderr)
		}
		b.t.Logf("%-40s apply holds it back", "bring back "+name)
	}
}

// redteams counts boxes of escaping, each of which shares memory.
var redteams atomic.Int32

// escaping is a box with all that there is to be had, and the script that tries to get it.
func escaping(t *testing.T) (*box, string) {
	b := delegating(t, nil)
	for name, text := range map[string]string{
		"home/.ssh/id_x": "key", "home/.codex/auth.json": "{}", "home/.claude/settings.json": "{}", "home/.bashrc": "",
		"home/.agents/SOUL.md": "mild", "home/.agents/acp/work/other/work/f": "theirs", "work/.env": "secret",
		"work/bin/tool": "#!/bin/sh\n", "work/lib/x": "", "work/config/master.key": "key",
	} {
		path := filepath.Join(b.Dir, name)
		must(b, os.MkdirAll(filepath.Dir(path), 0o700))
		must(b, os.WriteFile(path, []byte(text), 0o600))
	}
	must(b, os.Chmod(filepath.Join(b.Work, "bin", "tool"), 0o700))
	socket, session := filepath.Join(b.Dir, "docker.sock"), filepath.Join(b.Dir, "tmp", "signet-acp-1", "mcp")
	must(b, os.MkdirAll(filepath.Dir(session), 0o700))
	abstract, datagram := "@"+filepath.Base(b.Dir), filepath.Join(b.Dir, "log")
	gets, err := net.ListenPacket("unixgram", datagram)
	must(b, err)
	t.Cleanup(func() { gets.Close() })
	key := os.Getpid()<<8 | int(redteams.Add(1))
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o600)
	must(b, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	port := 0
	for _, at := range [][2]string{{"unix", socket}, {"unix", session}, {"unix", abstract}, {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(at[0], at[1])
		must(b, err)
		t.Cleanup(func() { l.Close() })
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			port = tcp.Port
		}
	}
	b.set("PATH="+filepath.Join(b.Work, "bin")+":"+os.Getenv("PATH"), "SSH_AUTH_SOCK="+socket, "DBUS_SESSION_BUS_ADDRESS=x", "XDG_RUNTIME_DIR="+b.Dir, "DOCKER_HOST=x",
		"OPENAI_API_KEY=sk-x", "SIGNET_TOKEN=x", "SIGNET_ACP_DELEGATION=on")
	var s strings.Builder
	fmt.Fprintf(&s, "CALLER=%s REAL=%s SIGNET=%s SOCKET=%s PORT=%d TEST=%d PROXY=%s\n", b.Work, b.Home, b.Signet, socket,
		port, os.Getpid(), proxyBin)
	fmt.Fprintf(&s, "SESSION=%s ABSTRACT=%s DATAGRAM=%s SHARED=%d\n", session, abstract, datagram, key)
	s.WriteString("RELAY=$(sed 's/.*) //' /proc/$PPID/stat | cut -d' ' -f2)\n")
	try := func(name, command, yes, no string) {
		fmt.Fprintf(&s, "if why=$( (%s) 2>&1 >/dev/null); then echo \"%s: %s\"; else "+
			"echo \"%s: %s|$(echo \"$why\" | tail -n 1 | tail -c 120)\"; fi\n", command, yes, name, no, name)
	}
	for _, e := range slices.Concat(escapes, apart) {
		try(e.name, e.command, "out", "held")
	}
	for _, e := range slices.Concat(needs, needsApart) {
		try(e.name, e.command, "works", "broken")
	}
	for _, e := range limits {
		try(e.name, e.command, "open", "shut")
	}
	try("written", `echo x > ours.txt`, "tree", "shut")
	fmt.Fprintf(&s, "(mkdir -p .claude; for f in %s; do echo x > $f; done) 2>/dev/null\n", strings.Join(steering, " "))
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
