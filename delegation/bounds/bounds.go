// Package bounds has the system keep a program, and all that it starts, to the files that it is given, and ends them
// all together.
//
//	rules := bounds.Rules{Read: []string{"/usr"}, Write: []string{tree}}
//	command, env, err := rules.Around(path, command, env) // our own program, which becomes the command (Launch)
//
// On Linux it is Landlock; other systems have nothing of the kind. What Landlock does not stop is in
// docs/delegation.md#what-the-system-does-not-stop.
package bounds

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Word, as the first argument, makes our program the one that becomes another in its bounds:
// Word PATH COMMAND…, with the rules in the environment.
const Word = "--bounded"

const rulesVariable = "SIGNET_ACP_BOUNDED_BY"

// Around returns the command line and the environment by which our program becomes a command, with its program at path,
// in its bounds.
func (r Rules) Around(path string, command, env []string) (around, with []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	r.Outside = outside()
	text, err := json.Marshal(r)
	if err != nil {
		return nil, nil, err
	}
	with = append(slices.Clone(env), rulesVariable+"="+string(text))
	return slices.Concat([]string{self, Word, path}, command), with, nil
}

// Launch is what our program does when it is started so: it becomes the command. It returns only if it cannot, and
// then nothing of the command has run.
func Launch(args []string) error {
	var rules Rules
	text := os.Getenv(rulesVariable)
	switch {
	case len(args) < 2:
		return errors.New("no command to run in bounds")
	case json.Unmarshal([]byte(text), &rules) != nil:
		return fmt.Errorf("the bounds in %s cannot be read", rulesVariable)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, rulesVariable+"=") })
	return rules.launch(args[0], args[1:], env)
}
