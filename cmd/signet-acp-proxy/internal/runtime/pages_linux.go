package runtime

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"

	"golang.org/x/sys/unix"
)

// DropCode gives the pages of the program's code back to the system: half of them are used by the start alone. What
// goes on being used is mapped again from the page cache, a few pages at a time. Breakpoints of a debugger are lost.
// Without /proc it does nothing. docs/facts/performance.md, "What is resident", has what it gains.
func DropCode() {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }()
	us := reflect.ValueOf(DropCode).Pointer()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var start, end uintptr
		var mode string
		_, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &start, &end, &mode)
		// the code, in which nothing was written
		if err == nil && start <= us && us < end && strings.HasPrefix(mode, "r-x") {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
			return
		}
	}
}
