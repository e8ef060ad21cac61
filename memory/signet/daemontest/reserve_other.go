//go:build !unix

package daemontest

// reserve reserves nothing here.
func reserve(address string) (reserved string, release func(), err error) {
	return address, func() {}, nil
}
