package bounds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// outside names the namespace that we are in, so that what we start knows whether it has one of its own.
func outside() string {
	name, _ := os.Readlink("/proc/self/ns/mnt")
	return name
}

// mountName is the folder in the state's on which the root is mounted, and which it hides.
const mountName = ".root"

// enter gives us a root in which there is only what the rules name, so that nothing else can be found, least of all a
// socket. False: the system does not let us, and nothing has changed.
//
// The root is an empty file system, with each file and folder mounted where it is outside. What is mounted elsewhere is
// added to the rules.
func (r *Rules) enter() (bool, error) {
	here := outside()
	if r.State == "" || r.Outside == "" || here == "" || here == r.Outside {
		return false, nil
	}
	cwd, err := unix.Getwd()
	if err != nil {
		return false, err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return false, nil //nolint:nilerr // AppArmor lets programs have namespaces, and no rights there
	}
	base := filepath.Join(r.State, mountName)
	if err := r.build(base); err != nil {
		return false, nil //nolint:nilerr // what it has mounted only we see, and only below base
	}
	if err := unix.Chdir(base); err != nil {
		return false, err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old one lies on top of the new one
		return false, os.NewSyscallError("pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return false, os.NewSyscallError("umount", err)
	}
	if err := unix.Chdir(cwd); err != nil {
		return false, fmt.Errorf("entering %s in its bounds: %w", cwd, err)
	}
	return true, nil
}

// build makes the root at base.
func (r *Rules) build(base string) error {
	if err := os.Mkdir(base, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	on, err := folderAt(base)
	if err != nil {
		return err
	}
	defer on.close()
	if err := unix.Mount("root", on.name(), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=4m"); err != nil {
		return os.NewSyscallError("mount", err)
	}
	at := root{base: base}
	// the tree and the state lie in one folder and are one mount, between which files can be moved
	if err := at.bind(filepath.Dir(r.State), 0); err != nil {
		return err
	}
	for _, path := range slices.Sorted(slices.Values(slices.Concat(r.Read, r.Write, devices))) {
		if err := at.bind(path, unix.MS_REC); err != nil {
			return err
		}
	}
	if err := at.terminals(); err != nil {
		return err
	}
	for name, path := range map[string]string{tmpName: "/tmp", shmName: "/dev/shm"} {
		if slices.ContainsFunc(at.bound, func(bound string) bool { return holds(path, bound) }) { // what is given
			continue
		}
		if err := at.own(filepath.Join(r.State, name), path); err != nil {
			return err
		}
		r.Write = append(r.Write, path)
	}
	for _, link := range r.Links {
		if err := at.link(link); err != nil {
			return err
		}
	}
	return nil
}

// A root is a file system that is being made at base.
type root struct {
	base  string
	bound []string // what is mounted in it
}

func (r *root) at(path string) string { return filepath.Join(r.base, path) }

// bind mounts what is at path outside at the same path inside. What is not there is left out, or lies in what is there.
func (r *root) bind(path string, how uintptr) error {
	if heldByAny(path, r.bound) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // what is not there any more, or cannot be seen
	}
	if err := r.place(path, info.IsDir()); err != nil {
		return err
	}
	return r.mount(path, path, how)
}

func (r *root) mount(from, path string, how uintptr) error {
	if err := unix.Mount(from, r.at(path), "", unix.MS_BIND|how, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", path, err)
	}
	r.bound = append(r.bound, path)
	return nil
}

// place makes a folder, or a file, to mount something on.
func (r *root) place(path string, folder bool) error {
	if folder {
		return os.MkdirAll(r.at(path), 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(r.at(path)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(r.at(path), nil, 0o600)
}

// own mounts a folder of the state elsewhere.
func (r *root) own(from, path string) error {
	folder, err := folderAt(from)
	if err != nil {
		return err
	}
	defer folder.close()
	if err := r.place(path, true); err != nil {
		return err
	}
	return r.mount(folder.name(), path, 0)
}

// terminals makes terminals of its own, beside which there are none of the user's.
func (r *root) terminals() error {
	if err := r.place("/dev/pts", true); err != nil {
		return err
	}
	if err := unix.Mount("devpts", r.at("/dev/pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("mounting terminals: %w", err)
	}
	r.bound = append(r.bound, "/dev/pts")
	var err error
	for name, to := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		err = errors.Join(err, os.Symlink(to, r.at("/dev/"+name)))
	}
	return err
}

// link makes a symbolic link as it is outside.
func (r *root) link(path string) error {
	to, err := os.Readlink(path)
	if err != nil || heldByAny(path, r.bound) {
		return nil //nolint:nilerr // it is no link any more, or lies in what is there
	}
	if err := os.MkdirAll(filepath.Dir(r.at(path)), 0o755); err != nil {
		return err
	}
	return os.Symlink(to, r.at(path))
}

// A folderHandle is a folder, whatever its name leads to later: a child may have put a link in its place.
type folderHandle int

func folderAt(path string) (folderHandle, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return folderHandle(fd), nil
}

func (f folderHandle) name() string { return fmt.Sprintf("/proc/self/fd/%d", int(f)) }
func (f folderHandle) close()       { unix.Close(int(f)) }
