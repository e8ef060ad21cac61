package bounds

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A denial is a system call that a program in bounds may not make, or only without some arguments.
type denial struct {
	call  uint32
	with  unix.Errno // what it is answered with; 0: that it was done
	where []argument // all must hold; none: always
}

// An argument is one of a call's, by its lower half: what we look at are numbers of 32 bits.
type argument struct {
	number int
	bits   uint32 // it has one of these; 0: compare with is
	is     uint32
	not    bool // it is something else
}

const (
	setuid = unix.S_ISUID | unix.S_ISGID
	makes  = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY // with these flags open has a mode
)

// denials hold in any bounds.
//
// A file with a setuid bit would run as the user for somebody else. What a ring or a struct tells the kernel to do no
// filter sees. Keys are inherited, and belong to the user.
var denials = append([]denial{
	{call: unix.SYS_FCHMOD, with: unix.EPERM, where: []argument{{number: 1, bits: setuid}}},
	{call: unix.SYS_FCHMODAT, with: unix.EPERM, where: []argument{{number: 2, bits: setuid}}},
	{call: unix.SYS_FCHMODAT2, with: unix.EPERM, where: []argument{{number: 2, bits: setuid}}},
	{call: unix.SYS_MKNODAT, with: unix.EPERM, where: []argument{{number: 2, bits: setuid}}},
	{call: unix.SYS_OPENAT, with: unix.EPERM, where: []argument{{number: 2, bits: makes}, {number: 3, bits: setuid}}},
	{call: unix.SYS_OPENAT2, with: unix.ENOSYS},
	{call: unix.SYS_IO_URING_SETUP, with: unix.ENOSYS},
	{call: unix.SYS_IO_URING_ENTER, with: unix.ENOSYS},
	{call: unix.SYS_IO_URING_REGISTER, with: unix.ENOSYS},
	{call: unix.SYS_ADD_KEY, with: unix.ENOSYS},
	{call: unix.SYS_REQUEST_KEY, with: unix.ENOSYS},
	{call: unix.SYS_KEYCTL, with: unix.ENOSYS},
	// limits of the user's other processes, which can end them
	{call: unix.SYS_PRLIMIT64, with: unix.EPERM, where: []argument{{number: 0, not: true}}},
	// with it, nobody of the same user could see which files it has open; it is told that it worked
	{call: unix.SYS_PRCTL, where: []argument{{number: 0, is: unix.PR_SET_DUMPABLE}}},
	// typing into a terminal
	{call: unix.SYS_IOCTL, with: unix.EPERM, where: []argument{{number: 1, is: unix.TIOCSTI}}},
	{call: unix.SYS_IOCTL, with: unix.EPERM, where: []argument{{number: 1, is: unix.TIOCLINUX}}},
}, oldDenials...)

// noSockets closes Unix sockets where they cannot be kept out of sight: no filter sees the path of a connect. A pair
// that is connected to itself stays, but not one of datagrams, which may be sent to others.
var noSockets = []denial{
	{call: unix.SYS_SOCKET, with: unix.EACCES, where: []argument{{number: 0, is: unix.AF_UNIX}}},
	{call: unix.SYS_SOCKETPAIR, with: unix.EACCES, where: []argument{{number: 1, bits: unix.SOCK_DGRAM}}},
}

// offsets into the data that a filter sees of a call.
const (
	offsetCall      = 0
	offsetProcessor = 4
	offsetArguments = 16
)

// filter returns the program of a filter.
func filter(denied []denial) []bpf.Instruction {
	const allow = unix.SECCOMP_RET_ALLOW
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetProcessor, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: processor, SkipTrue: 1}, // else the numbers mean other calls
		refuse(unix.ENOSYS),
		bpf.LoadAbsolute{Off: offsetCall, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: firstForeign, SkipTrue: 1},
		refuse(unix.ENOSYS),
	}
	for _, d := range denied {
		var body []bpf.Instruction
		for i, a := range d.where {
			jump := bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: a.is}
			switch {
			case a.bits != 0:
				jump = bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: a.bits}
			case a.not:
				jump.Cond = bpf.JumpEqual
			}
			jump.SkipTrue = uint8(2*(len(d.where)-i-1) + 1) //nolint:gosec // a call has six arguments
			body = append(body, bpf.LoadAbsolute{Off: offsetArguments + 8*uint32(a.number), Size: 4}, jump)
		}
		body = append(body, refuse(d.with), bpf.LoadAbsolute{Off: offsetCall, Size: 4})
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: d.call, SkipTrue: uint8(len(body))}) //nolint:gosec // at most 14
		program = append(program, body...)
	}
	return append(program, bpf.RetConstant{Val: allow})
}

func refuse(with unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(with)}
}

// checkFilter says why this system cannot filter system calls.
func checkFilter() error {
	if processor == 0 {
		return errors.New("no filter of system calls is known for this processor")
	}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0,
		uintptr(unsafe.Pointer(&action))); err != 0 {
		return fmt.Errorf("system calls cannot be filtered (seccomp: %w)", err)
	}
	return nil
}

// deny has the kernel deny calls to this thread, and to what it becomes. It may gain no rights any more.
func deny(denied []denial) error {
	raw, err := bpf.Assemble(filter(denied))
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	load := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // at most 4096
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&load))); err != 0 {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	return nil
}
