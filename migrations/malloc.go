//go:build cgo && (sqlite_fts5 || fts5)

package migrations

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>

// SQLite's memory comes from one arena. The GNU library gives each thread one of its own, and what a connection has
// freed in one thread stays there while the next thread asks for more: a relay had 11 MB in ten of them.
__attribute__((constructor)) static void one_arena(void) { mallopt(M_ARENA_MAX, 1); }
#endif
*/
import "C"
