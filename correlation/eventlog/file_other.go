//go:build !unix

package eventlog

import "io/fs"

const noFollow = 0

func ownedByUs(fs.FileInfo) bool { return true } // the folder's own rights say whose it is
