//go:build harnesses && !linux

package harnesses

// ahead does nothing here.
func (s stage) ahead() (behind func()) { return func() {} }
