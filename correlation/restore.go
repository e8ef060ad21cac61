package correlation

import (
	"context"
	"database/sql"
)

// ForgetOrders takes out of a database that may come from anybody what it would have us do: commands to run, daemons to
// send what was said to, files to remove. What is owed stays owed, by the configuration's own command and daemon.
func (s *Store) ForgetOrders(ctx context.Context) error {
	return s.write(ctx, "taking commands and addresses out of a backup", func(tx *sql.Tx) error {
		for _, statement := range []string{
			`UPDATE deliveries SET hook_command = '', hook_limit = 0, url = '', file = '', lease = ''`,
			`UPDATE processes SET hook_command = '', hook_limit = 0, url = ''`,
			`DELETE FROM daemon_seen`,
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}
