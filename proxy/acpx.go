package proxy

import (
	"bufio"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Acpx finds the ids of acpx's session records. acpx does not send them to an agent, so they are read from the lock
// files of its queue owners (its processes that hold a session) and from its session files (docs/facts/acpx.md, "Ids
// and files").
type Acpx struct {
	Home   string                    // the person's home folder
	Parent int                       // the process that started us
	Above  func(pid int) (int, bool) // returns a process's parent; nil: unknown
}

const (
	maxAncestors   = 5       // wrappers such as npx or sh may stand between acpx and us
	maxAcpxFiles   = 64      // session files that are looked at, the newest ones
	maxAcpxFile    = 8 << 20 // bytes of a session file that are read: it holds the conversation
	maxAcpxFolders = 10_000  // entries of a folder of acpx that are read
)

// Record returns the record id of a session, or for session "" that of the connection: of the queue owner that started
// us, which stays the same when the session's id changes. It returns "" if acpx has none.
func (a Acpx) Record(session string) string {
	if record := a.ofOwner(); record != "" || session == "" {
		return record
	}
	return a.ofSession(session)
}

// ofOwner returns the record in the queue lock that names one of our ancestors.
func (a Acpx) ofOwner() string {
	owners := map[int]string{}
	for _, entry := range folder(filepath.Join(a.Home, ".acpx", "queues"), ".lock") {
		var pid int
		var record string
		path := filepath.Join(a.Home, ".acpx", "queues", entry.Name())
		if members(path, map[string]any{"pid": &pid, "sessionId": &record}) && pid > 1 {
			owners[pid] = record
		}
	}
	pid := a.Parent
	for range maxAncestors {
		if record := owners[pid]; record != "" {
			return record
		}
		if a.Above == nil || len(owners) == 0 {
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

// ofSession returns the record of the session file that has this ACP session. A record is named after its first
// session, so that the file of that name is tried first, then those that were written last.
func (a Acpx) ofSession(session string) string {
	dir := filepath.Join(a.Home, ".acpx", "sessions")
	if plainName(session) {
		if record := recordIn(filepath.Join(dir, session+".json"), session); record != "" {
			return record
		}
	}
	files := folder(dir, ".json")
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, file := range files[:min(len(files), maxAcpxFiles)] {
		if record := recordIn(filepath.Join(dir, file.Name()), session); record != "" {
			return record
		}
	}
	return ""
}

// plainName reports whether a session's id is safe as a file's name.
func plainName(id string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}
	return id != "" && len(id) <= 200 && id[0] != '.' && !strings.ContainsFunc(id, odd)
}

// recordIn returns the record id in a session file, "" if the file is another session's.
func recordIn(path, session string) string {
	var record, current string
	if members(path, map[string]any{"acpx_record_id": &record, "acp_session_id": &current}) && current == session {
		return record
	}
	return ""
}

// folder returns the regular files in a folder that have a suffix.
func folder(dir, suffix string) []fs.FileInfo {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxAcpxFolders)
	var files []fs.FileInfo
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != suffix || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil {
			files = append(files, info)
		}
	}
	return files
}

// members decodes members of the JSON object in a file into the pointers of into, and reports whether all were there.
// It reads no further than the last of them.
func members(path string, into map[string]any) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	dec := json.NewDecoder(bufio.NewReader(io.LimitReader(file, maxAcpxFile)))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return false
	}
	found := 0
	for dec.More() && found < len(into) {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		name, _ := key.(string)
		var skipped json.RawMessage
		var value any = &skipped
		if wanted, ok := into[name]; ok {
			value = wanted
			found++
		}
		if dec.Decode(value) != nil {
			return false
		}
	}
	return found == len(into)
}
