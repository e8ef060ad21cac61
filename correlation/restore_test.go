package correlation_test

import (
	"path/filepath"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// A backup that somebody else has made runs no command and sends nothing to a daemon of theirs.
func TestForgetOrders(t *testing.T) {
	db, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		`INSERT INTO sessions (id, harness, acp_id, key, state, started, last_active) VALUES (1, 'h', 'a', 'k', 'done', 1, 1)`,
		`INSERT INTO processes (id, kind, harness, version, pid, signet_path, memory, hook, hook_command, url,
			started) VALUES ('p', 'relay', 'h', '', 1, '', 'auto', 1, '["evil"]', 'http://evil', 1)`,
		`INSERT INTO debts (session, key, kind, reason, url, state, created, owed, due, hook_command)
			VALUES (1, 'k', 'hook', '', 'http://evil', 'owed', 1, 1, 1, '["evil"]')`,
		`INSERT INTO noted VALUES ('daemon', '/home', 1, '{"url":"http://evil"}')`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := correlation.New(db, correlation.Options{}).ForgetOrders(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left, owed int
	if err := db.QueryRow(`SELECT (SELECT count(*) FROM noted) +
		(SELECT count(*) FROM processes WHERE hook_command || url <> '') +
		(SELECT count(*) FROM debts WHERE hook_command || url <> ''),
		(SELECT count(*) FROM debts WHERE state = 'owed')`).Scan(&left, &owed); err != nil {
		t.Fatal(err)
	}
	if left != 0 || owed != 1 {
		t.Errorf("%d rows still say what to do, %d are owed", left, owed)
	}
}
