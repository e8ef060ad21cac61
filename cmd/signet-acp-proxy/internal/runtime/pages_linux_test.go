package runtime

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
)

// Pages of the code are given back, and the program goes on. It is a copy of this test: of a file that the linker has
// just written Linux maps large pieces, and all of them again at once.
func TestDropCode(t *testing.T) {
	if os.Getenv("DROP_CODE") == "" {
		program := filepath.Join(t.TempDir(), "copy")
		text, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, text, 0o700); err != nil {
			t.Fatal(err)
		}
		again := exec.CommandContext(t.Context(), program, "-test.run", t.Name())
		again.Env = append(os.Environ(), "DROP_CODE=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	before := residentCode(t)
	DropCode()
	if after := residentCode(t); before == 0 || after >= before {
		t.Errorf("%d KB of code were resident, and then %d", before, after)
	}
}

// residentCode is how many KB of this program's code are mapped and in memory.
func residentCode(t *testing.T) (kb int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	us, ours := reflect.ValueOf(residentCode).Pointer(), false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var start, end uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x", &start, &end); n == 2 {
			ours = start <= us && us < end
		}
		if n, _ := fmt.Sscanf(lines.Text(), "Rss: %d kB", &kb); ours && n == 1 {
			return kb
		}
	}
	t.Fatal("the code is mapped nowhere")
	return 0
}
