package bounds

import "golang.org/x/sys/unix"

const (
	processor    = unix.AUDIT_ARCH_X86_64
	firstForeign = 0x40000000 // from here on they are calls of x32
)

// oldDenials are for calls that newer processors never had.
var oldDenials = []denial{
	{call: unix.SYS_CHMOD, with: unix.EPERM, where: []argument{{number: 1, bits: setuid}}},
	{call: unix.SYS_CREAT, with: unix.EPERM, where: []argument{{number: 1, bits: setuid}}},
	{call: unix.SYS_MKNOD, with: unix.EPERM, where: []argument{{number: 1, bits: setuid}}},
	{call: unix.SYS_OPEN, with: unix.EPERM, where: []argument{{number: 1, bits: makes}, {number: 2, bits: setuid}}},
}
