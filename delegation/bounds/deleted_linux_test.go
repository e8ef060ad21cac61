package bounds

import (
	"bufio"
	"os/exec"
	"testing"
)

// A file that is deleted while a descendant has it open counts, also one of a descendant that has forked away.
func TestDeleted(t *testing.T) {
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	before := Deleted()
	const script = `exec 9>f; rm f; head -c 3000000 /dev/zero >&9; (setsid sh -c 'exec 8>g; rm g
head -c 2000000 /dev/zero >&8; echo; read _' <&3 3<&- &) 3<&0; read _`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = t.TempDir()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Error(err)
	}
	if got := Deleted() - before; got < 5_000_000 || got > 6_000_000 {
		t.Errorf("%d bytes", got)
	}
	in.Close()
	_ = cmd.Wait()
}
