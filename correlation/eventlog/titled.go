package eventlog

func (e Titled) fold(f *folding) error {
	return f.inSession(Titled{Session: e.Session}, e.Session,
		func(row int64) error { return f.b.SetSessionTitle(row, e.Title) })
}
