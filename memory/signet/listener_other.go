//go:build !linux

package signet

import "errors"

// listeners cannot tell on this system.
func listeners(int) ([]int, error) { return nil, errors.ErrUnsupported }
