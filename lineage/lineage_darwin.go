package lineage

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Look returns a process by its id.
func Look(id int) (Process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", id)
	if err != nil {
		return Process{}, fmt.Errorf("looking at process %d: %w", id, err)
	}
	return Process{ID: id, Parent: int(info.Eproc.Ppid), Started: Moment(info.Proc.P_starttime.Nano() / 1000),
		Name: unix.ByteSliceToString(info.Proc.P_comm[:])}, nil
}

// Now is this moment.
func Now() Moment { return Moment(time.Now().UnixMicro()) }
