package proxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAcpx(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	home := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, ".acpx", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parents := map[int]int{100: 90, 90: 80, 80: 1}
	above := func(pid int) (int, bool) { up, ok := parents[pid]; return up, ok }
	find := func(parent int, session string) string {
		return Acpx{Home: home, Parent: parent, Above: above}.Record(session)
	}
	if got := find(100, "s1"); got != "" {
		t.Errorf("without acpx: %q", got)
	}
	write("queues/a.lock", `{"pid":80,"sessionId":"record-1","socketPath":"/x"}`)
	write("queues/b.lock", `{"pid":4711,"sessionId":"record-2"}`)
	write("queues/broken.lock", `{"pid":90,`)
	write("queues/no-pid.lock", `{"sessionId":"record-3"}`)
	write("queues/not-a-number.lock", `{"pid":"90","sessionId":"record-4"}`)
	write("queues/array.lock", `[90]`)
	write("queues/readme.txt", `{"pid":90,"sessionId":"record-5"}`)
	write("sessions/s1.json",
		`{"schema":"acpx.session.v1","acpx_record_id":"s1","acp_session_id":"s1","messages":[{"a":1}]}`)
	write("sessions/s2.json", `{"messages":[{"acp_session_id":"decoy"}],"acpx_record_id":"s2","acp_session_id":"s9"}`)
	write("sessions/broken.json", `{"acpx_record_id":"x",`)
	write("sessions/s3.json", `{"acpx_record_id":"s3","acp_session_id":null}`)
	write("sessions/s4.json", fmt.Sprintf(`{"pad":%q,"acpx_record_id":"s4","acp_session_id":"s4"}`,
		strings.Repeat("x", maxAcpxFile)))
	write("sessions/s5.stream.ndjson", `{"acpx_record_id":"s5","acp_session_id":"s5"}`)
	for _, tt := range []struct {
		name    string
		parent  int
		session string
		want    string
	}{
		{"the owner's, through wrappers", 100, "", "record-1"},
		{"the owner's, whatever the session", 90, "s1", "record-1"},
		{"no owner", 55, "", ""},
		{"the file of its name", 55, "s1", "s1"},
		{"the file that has it now", 55, "s9", "s2"},
		{"not what it was before", 55, "s2", ""},
		{"a decoy", 55, "decoy", ""},
		{"no id", 55, "s3", ""},
		{"too far behind", 55, "s4", ""},
		{"a journal", 55, "s5", ""},
		{"a path", 55, "../sessions/s1", ""},
		{"a long one", 55, strings.Repeat("s", 1<<20), ""},
		{"control characters", 55, "s\x001", ""},
		{"a pattern", 55, "s*", ""},
	} {
		if got := find(tt.parent, tt.session); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for i := range 2 * maxAcpxFiles { // the newest ones are looked at
		write(fmt.Sprintf("sessions/n%d.json", i),
			fmt.Sprintf(`{"acpx_record_id":"n%d","acp_session_id":"rotated-%d"}`, i, i))
		at := time.Unix(int64(2_000_000_000+i), 0)
		if err := os.Chtimes(filepath.Join(home, ".acpx", "sessions", fmt.Sprintf("n%d.json", i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	last := 2*maxAcpxFiles - 1
	if got := find(55, fmt.Sprintf("rotated-%d", last)); got != fmt.Sprintf("n%d", last) {
		t.Errorf("the newest: %q", got)
	}
	if got := find(55, "rotated-0"); got != "" {
		t.Errorf("the oldest: %q", got)
	}
}

// acpx's file of a new session appears when the harness has named it: it is found at the end of the connection.
func TestRecordOfNewSession(t *testing.T) {
	p := newScenario(t)
	home := t.TempDir()
	dir := filepath.Join(home, ".acpx", "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.change = func(o *Options) { o.Record = Acpx{Home: home}.Record }
	p.start(asItIs)
	p.open("session/new")
	if err := os.WriteFile(filepath.Join(dir, p.id+".json"),
		fmt.Appendf(nil, `{"acpx_record_id":%q,"acp_session_id":%q}`, p.id, p.id), 0o600); err != nil {
		t.Fatal(err)
	}
	p.c.close()
	if got := p.w.session("model", p.id).Record; got != p.id {
		t.Errorf("the record is %q", got)
	}

	// Another session of that record, in a process that has no owner above it.
	p.start(asItIs)
	old := p.id
	p.open("session/fork") // not acpx's: a fork is a conversation of its own
	if got := p.w.session("model", p.id).Record; got != "" {
		t.Errorf("the fork's record is %q", got)
	}
	p.id = old
	p.open("session/load")
	p.c.close()
	if got := p.w.session("model", old).Record; got != old {
		t.Errorf("after a load the record is %q", got)
	}
}
