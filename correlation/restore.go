package correlation

import (
	"context"
	"database/sql"
)

// ForgetOrders takes out of a database that may come from anybody what it would have us do: commands to run, and
// daemons to send what was said to. What is owed stays owed, by the configuration's own command and daemon.
func (s *Store) ForgetOrders(ctx context.Context) error {
	return s.write(ctx, "taking commands and addresses out of a backup", func(tx *sql.Tx) error {
		for _, statement := range []string{
			`UPDATE debts SET hook_command = '', url = ''`,
			`UPDATE processes SET hook_command = '', url = ''`,
			`DELETE FROM noted WHERE kind = 'daemon'`,
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}
