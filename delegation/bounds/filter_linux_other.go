//go:build linux && !amd64

package bounds

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// processor is what the kernel calls it, 0 for one that we have no filter for.
var processor = map[string]uint32{"arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}[runtime.GOARCH]

const firstForeign = 1 << 31

var oldDenials []denial
