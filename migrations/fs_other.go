//go:build !linux && !darwin

package migrations

// onNetwork cannot be found out on this system.
func onNetwork(string) (bool, string) { return false, "" }

// writable is left to SQLite on this system.
func writable(string) error { return nil }
