package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	tries["connect"] = func(path string) error { return connect("unix", path) }
	tries["ring"] = func(string) error {
		return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&[256]byte{})))
	}
	tries["keys"] = func(string) error {
		user := unix.KEY_SPEC_SESSION_KEYRING
		return call(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, uintptr(user), 0)
	}
	tries["foreign"] = func(string) error { return call(unix.SYS_GETPID|0x40000000, 0, 0) }
	tries["type"] = func(string) error {
		letter := byte('x')
		return call(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
	}
	tries["limit"] = limit
	tries["datagram"] = datagram
	tries["setuid"] = setuid
	tries["shared"] = shared
	tries["processes"] = processes
}

func call(number, one, two uintptr, more ...uintptr) error {
	if _, _, err := unix.Syscall(number, one, two, append(more, 0)[0]); err != 0 {
		return err
	}
	return nil
}

func connect(network, address string) error {
	conn, err := net.Dial(network, address)
	if err == nil {
		conn.Close()
	}
	return err
}

// limit limits another process to no processor time, which ends it.
func limit(process string) error {
	id, err := strconv.Atoi(process)
	if err != nil {
		return err
	}
	var now unix.Rlimit
	if err := unix.Prlimit(id, unix.RLIMIT_CPU, nil, &now); err != nil {
		return err
	}
	return unix.Prlimit(id, unix.RLIMIT_CPU, &now, nil)
}

// datagram sends something to a socket without having one of its own: one half of a pair is enough.
func datagram(path string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: path})
}

// setuid makes a file that runs as its owner, in all ways that there are.
func setuid(path string) error {
	const mode = 0o4755
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer f.Close()
	ways := []error{unix.Chmod(path, mode), unix.Fchmod(int(f.Fd()), mode), unix.Fchmodat(unix.AT_FDCWD, path, mode, 0),
		unix.Mknod(path+"1", unix.S_IFREG|mode, 0)}
	made, err := unix.Open(path+"2", unix.O_CREAT|unix.O_WRONLY, mode)
	ways = append(ways, err)
	_ = unix.Close(made)
	made, err = unix.Openat2(unix.AT_FDCWD, path+"3", &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: mode})
	ways = append(ways, err)
	_ = unix.Close(made)
	for i, way := range ways {
		if way == nil {
			return nil
		}
		ways[i] = fmt.Errorf("way %d: %w", i, way)
	}
	return ways[0]
}

// shared opens memory that another program shares by System V's key.
func shared(key string) error {
	number, err := strconv.Atoi(key)
	if err != nil {
		return err
	}
	_, err = unix.SysvShmGet(number, 0, 0)
	return err
}

// processes starts threads without end, as a fork bomb does.
func processes(string) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err != nil {
		return err
	}
	if limit.Max > 1<<20 {
		return nil
	}
	return errors.New("at most " + strconv.FormatUint(limit.Max, 10))
}
