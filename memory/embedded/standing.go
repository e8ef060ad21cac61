package embedded

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// maxPinned is how many items a session's start has.
const maxPinned = 8

// startItems returns what a person has pinned: all that a session is told whatever its prompt, the newest first.
func (s *Store) startItems(ctx context.Context, session memory.Session) ([]memory.Item, error) {
	return sqlite.Collect(ctx, s.db, func(row sqlite.Row) (memory.Item, error) {
		m, err := scanMemory(row)
		return m.item(), err
	}, s.across(`SELECT `+memoryColumns+` FROM memories m WHERE m.source = ? AND `+
		`(m.project = ? OR m.project = '' OR m.personal)
		ORDER BY m.created DESC, m.id DESC LIMIT ?`), Pinned, session.Project, maxPinned)
}

func (m Memory) item() memory.Item {
	return memory.Item{ID: m.ID, Text: m.Content, Project: m.Project, Origin: m.Origin, Date: m.Created, Score: m.Score}
}
