package embedded

import (
	"time"
)

// A Memory is one thing that is known. Its JSON is what commands print and what export writes.
type Memory struct {
	ID         string    `json:"id"`
	Content    string    `json:"content"`
	Type       string    `json:"type"`
	Project    string    `json:"project"` // the git root that it was said in; "" for none
	Personal   bool      `json:"personal,omitempty"`
	Origin     string    `json:"origin"` // user or assistant
	Source     string    `json:"source"` // by which call it came
	Harness    string    `json:"harness,omitempty"`
	Session    string    `json:"session,omitempty"` // the Signet key
	Importance float64   `json:"importance"`
	Rating     float64   `json:"rating,omitempty"` // mean of the feedback, -1 to 1
	Tags       string    `json:"tags,omitempty"`
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
	Score      float64   `json:"score,omitempty"` // of a search: 0 to 1
}

const memoryColumns = `m.uid, m.content, m.type, m.project, m.origin, m.source, m.harness, m.key, m.importance, m.tags, m.created, m.updated`

func scanMemory(row scanner) (m Memory, err error) {
	var created, updated int64
	err = row.Scan(&m.ID, &m.Content, &m.Type, &m.Project, &m.Origin, &m.Source, &m.Harness, &m.Session, &m.Importance, &m.Tags, &created, &updated)
	m.Created, m.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return m, err
}
