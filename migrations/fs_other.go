//go:build !linux && !darwin

package migrations

// onNetwork is not known on this system.
func onNetwork(string) (bool, string) { return false, "" }

// writable leaves it to SQLite to find out.
func writable(string) error { return nil }
