//go:build !(sqlite_fts5 || fts5)

package migrations

const builtWithFTS5 = false
