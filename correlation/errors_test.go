package correlation_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What the real driver says when something is wrong with the file, and what is made of it.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(b *bench)
		want  error
	}{
		{"read-only", func(b *bench) {
			db := must(sql.Open(migrations.DriverName,
				"file:"+filepath.Join(b.dir, "acp", "sessions.db")+"?mode=ro"))(b.tb)
			b.tb.Cleanup(func() { check(b.tb, db.Close()) })
			b.Store = New(db, Options{Now: b.clock.Now})
		}, sqlite.ErrReadOnly},
		{"full", func(b *bench) {
			_, err := b.db.ExecContext(b.ctx(), "VACUUM") // tables that were dropped leave pages
			check(b.tb, err)
			_, err = b.db.ExecContext(b.ctx(), fmt.Sprintf("PRAGMA max_page_count = %d", b.count("PRAGMA page_count")))
			check(b.tb, err)
		}, sqlite.ErrFull},
		{"damaged", func(b *bench) {
			_, err := b.db.ExecContext(b.ctx(), "PRAGMA wal_checkpoint(TRUNCATE)")
			check(b.tb, err)
			check(b.tb, b.db.Close())
			path := filepath.Join(b.dir, "acp", "sessions.db")
			bytes := must(os.ReadFile(path))(b.tb)
			for i := 4096; i < len(bytes); i++ { // all but the first page
				bytes[i] = 0xa5
			}
			check(b.tb, os.WriteFile(path, bytes, 0o600))
			b.db = must(sql.Open(migrations.DriverName, "file:"+path))(b.tb)
			b.tb.Cleanup(func() { check(b.tb, b.db.Close()) })
			b.Store = New(b.db, Options{Now: b.clock.Now})
		}, sqlite.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			v := b.open(OpenSession{ACPID: "s"})
			tt.fault(b)
			err := correlationtest.Save(t.Context(), b.Store, []Turn{{Session: v.ID, User: strings.Repeat("x", 1<<16)}})
			if !errors.Is(err, tt.want) {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
			if strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("%q is more than one line", err)
			}
		})
	}
}
