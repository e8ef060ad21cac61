package eventlog

// Titled: what the harness calls the session. Redacted.
type Titled struct {
	Session int    `json:"session"`
	Title   string `json:"title"`
}

func (Titled) kind() string { return "titled" }

func (e Titled) fold(f *folding) error {
	return f.inSession(Titled{Session: e.Session}, e.Session,
		func(row int64) error { return f.b.SetSessionTitle(row, e.Title) })
}
