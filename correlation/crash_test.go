package correlation_test

func reexecuted() func() { return nil }
