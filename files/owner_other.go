//go:build !unix

package files

import "io/fs"

// NoFollow is a flag of os.OpenFile that this system does not have.
const NoFollow = 0

// Ours reports whether a file belongs to the user that we run as. Here only the folder's permissions can tell.
func Ours(fs.FileInfo) bool { return true }

// ByOthers is "": who may write here is not told by modes.
func ByOthers(string, fs.FileInfo) (mend string) { return "" }
