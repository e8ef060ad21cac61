//go:build !linux

package runtime

// DropCode does nothing here.
func DropCode() {}
