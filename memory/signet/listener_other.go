//go:build !linux

package signet

import "errors"

func listeners(int) ([]int, error) { return nil, errors.ErrUnsupported }
