package proxy

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// An Acpx finds the record ids of acpx, which tells an agent none: by the
// locks of its queue owners and by its session files (facts/acpx.md, section 4).
type Acpx struct {
	Home   string                    // the person's home folder
	Parent int                       // the process that started us
	Above  func(pid int) (int, bool) // a process's parent; nil knows none
}

const maxAncestors = 5 // wrappers such as npx or sh may stand between acpx and us

// Record gives the record id of a session. With session "" it is the
// connection's: that of the queue owner above us, which survives changes of the
// session's id. "" where acpx has none.
func (a Acpx) Record(session string) string {
	if record := a.ofOwner(); record != "" || session == "" {
		return record
	}
	return a.ofSession(session)
}

// ofOwner finds the queue lock that names a process above us.
func (a Acpx) ofOwner() string {
	locks, _ := filepath.Glob(filepath.Join(a.Home, ".acpx", "queues", "*.lock"))
	if len(locks) == 0 {
		return ""
	}
	owners := map[int]string{}
	for _, path := range locks {
		var lock struct {
			PID       int    `json:"pid"`
			SessionID string `json:"sessionId"`
		}
		if readJSON(path, &lock) && lock.PID > 0 {
			owners[lock.PID] = lock.SessionID
		}
	}
	pid := a.Parent
	for range maxAncestors {
		if record := owners[pid]; record != "" {
			return record
		}
		if a.Above == nil {
			break
		}
		above, ok := a.Above(pid)
		if !ok || above <= 1 {
			break
		}
		pid = above
	}
	return ""
}

// ofSession finds the session file that has this ACP session.
func (a Acpx) ofSession(session string) string {
	files, _ := filepath.Glob(filepath.Join(a.Home, ".acpx", "sessions", "*.json"))
	for _, path := range files {
		var file struct {
			Record  string `json:"acpx_record_id"`
			Session string `json:"acp_session_id"`
		}
		if readJSON(path, &file) && file.Session == session {
			return file.Record
		}
	}
	return ""
}

const maxAcpxFile = 8 << 20 // a session file holds the conversation; larger ones are left alone

func readJSON(path string, into any) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxAcpxFile {
		return false
	}
	b, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(b, into) == nil
}
