package bounds

// Rules are what a program may reach. Of files that are in neither list it sees no more than that they are there.
type Rules struct {
	Read  []string `json:"read"`  // files and folders that it may read and run
	Write []string `json:"write"` // folders that it may also change
	// Memory is how many bytes each of its processes may have, 0 for no limit.
	Memory int64 `json:"memory,omitempty"`

	State   string   `json:"state,omitempty"` // a folder of Write that has folders for its temp files and shared memory
	Links   []string `json:"links,omitempty"` // symbolic links that lead to what it may read
	Outside string   `json:"outside,omitempty"`
}

// Folders of the state.
const (
	tmpName = "tmp" // its TMPDIR, and its /tmp
	shmName = "shm" // its /dev/shm
)

// guardFile is the file descriptor by which Launch is told that all is to end: a socket to who started it.
const guardFile = 3
