package bounds

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What a filter says of a call.
func TestFilter(t *testing.T) {
	for name, tt := range map[string]struct {
		call, on uint32
		denied   []denial
		given    [6]uint64
		want     unix.Errno
	}{
		"reading":                     {call: unix.SYS_READ, denied: denials},
		"mode 0755":                   {call: unix.SYS_FCHMODAT, denied: denials, given: [6]uint64{0, 1, 0o755}},
		"setuid":                      {call: unix.SYS_FCHMODAT, denied: denials, given: [6]uint64{0, 1, 0o4755}, want: unix.EPERM},
		"setgid, by a descriptor":     {call: unix.SYS_FCHMOD, denied: denials, given: [6]uint64{3, 0o2755}, want: unix.EPERM},
		"made with it":                {call: unix.SYS_OPENAT, denied: denials, given: [6]uint64{0, 1, unix.O_CREAT, 0o4755}, want: unix.EPERM},
		"a temp file with it":         {call: unix.SYS_OPENAT, denied: denials, given: [6]uint64{0, 1, unix.O_TMPFILE, 0o4755}, want: unix.EPERM},
		"opened, with a mode for all": {call: unix.SYS_OPENAT, denied: denials, given: [6]uint64{0, 1, unix.O_DIRECTORY, 0o7777}},
		"another way to open":         {call: unix.SYS_OPENAT2, denied: denials, want: unix.ENOSYS},
		"a ring":                      {call: unix.SYS_IO_URING_SETUP, denied: denials, want: unix.ENOSYS},
		"keys":                        {call: unix.SYS_KEYCTL, denied: denials, want: unix.ENOSYS},
		"its own limits":              {call: unix.SYS_PRLIMIT64, denied: denials},
		"another's limits":            {call: unix.SYS_PRLIMIT64, denied: denials, given: [6]uint64{1}, want: unix.EPERM},
		"typing":                      {call: unix.SYS_IOCTL, denied: denials, given: [6]uint64{0, unix.TIOCSTI}, want: unix.EPERM},
		"the size of a terminal":      {call: unix.SYS_IOCTL, denied: denials, given: [6]uint64{0, unix.TIOCGWINSZ}},
		"a foreign processor":         {call: unix.SYS_READ, on: 1, denied: denials, want: unix.ENOSYS},
		"a foreign call":              {call: unix.SYS_READ | 1<<31, denied: denials, want: unix.ENOSYS},
		"a socket":                    {call: unix.SYS_SOCKET, denied: noSockets, given: [6]uint64{unix.AF_UNIX}, want: unix.EACCES},
		"the network":                 {call: unix.SYS_SOCKET, denied: noSockets, given: [6]uint64{unix.AF_INET}},
		"a pair":                      {call: unix.SYS_SOCKETPAIR, denied: noSockets, given: [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}},
		"a pair with edges":           {call: unix.SYS_SOCKETPAIR, denied: noSockets, given: [6]uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}},
		"a pair that may write":       {call: unix.SYS_SOCKETPAIR, denied: noSockets, given: [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, want: unix.EACCES},
	} {
		vm, err := bpf.NewVM(filter(tt.denied))
		if err != nil {
			t.Fatal(err)
		}
		on := tt.on
		if on == 0 {
			on = processor
		}
		// the kernel's words are in its own order, this machine's big end first
		call := make([]byte, offsetArguments+8*len(tt.given))
		binary.BigEndian.PutUint32(call[offsetCall:], tt.call)
		binary.BigEndian.PutUint32(call[offsetProcessor:], on)
		for i, given := range tt.given {
			binary.BigEndian.PutUint32(call[offsetArguments+8*i:], uint32(given))
		}
		got, err := vm.Run(call)
		if want := int(uint32(unix.SECCOMP_RET_ERRNO) | uint32(tt.want)); tt.want != 0 && got != want || err != nil {
			t.Errorf("%s: %#x, %v; want %#x", name, got, err, want)
		} else if tt.want == 0 && uint32(got) != unix.SECCOMP_RET_ALLOW {
			t.Errorf("%s: %#x, want it allowed", name, got)
		}
	}
}
