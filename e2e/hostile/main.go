// Command hostile makes the system calls by which a delegated agent might get out of its bounds. No shell makes them:
//
//	hostile TRY [ARGUMENT]
//
// It ends with 0 if it is out, else with 1, and says what held it. The tests run it in bounds.
package main

import (
	"fmt"
	"os"
	"strings"
)

// tries are its ways, by name. An error says what held it.
var tries = map[string]func(argument string) error{}

func main() {
	if len(os.Args) < 2 || tries[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "hostile: no such try here")
		os.Exit(2)
	}
	if err := tries[os.Args[1]](strings.Join(os.Args[2:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
