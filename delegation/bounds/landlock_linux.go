package bounds

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// needed is the version of Landlock that has all that we need: 3 bounds truncating files, 5 devices, 6 signals.
const needed = 6

// Check says why this system cannot bound a program; nil: it can.
func Check() error {
	version, err := ll.LandlockGetABIVersion()
	switch {
	case err != nil:
		return errors.New("this kernel has no Landlock, or it is off")
	case version < needed:
		return fmt.Errorf("this kernel has version %d of Landlock, and %d is needed (Linux 6.12)", version, needed)
	}
	return checkFilter()
}

const (
	reading = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	// no devices: who may make one reads the disk behind it
	writing = reading | ll.AccessFSWriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir |
		ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer |
		ll.AccessFSTruncate
	ofFiles   = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	onDevices = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
)

// devices that every program may use, and folders of such.
var (
	devices   = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
	terminals = []string{"/dev/ptmx", "/dev/pts"}
)

// launch applies the rules and becomes the command.
//
// It does so in two steps. Signals from the first domain reach what is in it, and what is in domains below: there the
// guard is left behind. The command is in the second, from where no signal reaches the guard.
func (r Rules) launch(path string, command, env []string) error {
	if err := Check(); err != nil {
		return err
	}
	runtime.LockOSThread() // for capabilities and exec; the thread ends with us
	denied := denials
	entered, err := r.enter()
	if err != nil {
		return err
	}
	if !entered {
		denied = slices.Concat(denials, noSockets)
	}
	if err := landlock.V6.RestrictScoped(); err != nil {
		return err
	}
	if err := leaveGuard(); err != nil {
		return fmt.Errorf("starting what ends it: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	if err := landlock.V6.RestrictPaths(r.paths()...); err != nil {
		return err
	}
	if err := landlock.V6.RestrictScoped(); err != nil {
		return err
	}
	if err := r.limit(); err != nil {
		return fmt.Errorf("limiting what it uses: %w", err)
	}
	if err := deny(denied); err != nil {
		return err
	}
	err = unix.Exec(path, command, env)
	if errors.Is(err, unix.ENOEXEC) { // a script without #!, see upstream.Start
		err = unix.Exec("/bin/sh", append([]string{"sh", path}, command[1:]...), env)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// paths makes rules of the lists. What is not there any more is left out.
func (r Rules) paths() []landlock.Rule {
	var rules []landlock.Rule
	add := func(names []string, access landlock.AccessFSSet) {
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				continue
			}
			granted := access
			if !info.IsDir() {
				granted &= ofFiles | ll.AccessFSIoctlDev
			}
			rules = append(rules, landlock.PathAccess(granted, name).IgnoreIfMissing())
		}
	}
	add(r.Read, reading)
	add(r.Write, writing)
	add(devices, onDevices)
	add(terminals, onDevices)
	return rules
}

// guardScript ends everything in the domain once nobody holds the other end of its stdin: a signal to -1 goes to all
// that one may signal.
const guardScript = `trap '' HUP INT QUIT TERM PIPE; read _; kill -KILL -1`

// leaveGuard starts the guard as a child of our parent, to which it tells its process id.
func leaveGuard() error {
	// without the domain it would end everybody
	if err := unix.Kill(os.Getppid(), 0); !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("signals to others are not held back (%v)", err)
	}
	none, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", guardScript}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{guardFile, uintptr(none), uintptr(none)},
		Sys:   &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_PARENT},
	})
	if err != nil {
		return err
	}
	_, err = unix.Write(guardFile, []byte(strconv.Itoa(pid)+"\n"))
	return errors.Join(err, unix.Close(guardFile))
}

// kept are the capabilities that root's programs keep: what they need with files of their own. With the others there
// are ways around any bounds, such as a kernel module, or a disk's device.
var kept = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL,
	unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE}

// dropCapabilities takes the others from root, and all from everybody else. None can be gained any more.
func dropCapabilities() error {
	if os.Geteuid() != 0 { // it had them for its root
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if slices.Contains(kept, c) {
			continue
		}
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil { // an older kernel has fewer
			return nil
		}
		if has == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return err
		}
	}
	return nil
}
