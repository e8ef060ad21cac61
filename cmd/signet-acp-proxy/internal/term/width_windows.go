package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// columnsOf returns the columns of a console, 0 where it does not say.
func columnsOf(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
