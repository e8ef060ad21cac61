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
	"path/filepath"
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

// A Place is what a runner gives its child's relay: where the child works. The relay makes the rules, because it knows
// the harness.
type Place struct {
	Tree  string   `json:"tree"`
	Edit  bool     `json:"edit"`  // it may change the tree
	Reads []string `json:"reads"` // files beside it, such as the objects that its git borrows
	State string   `json:"state"` // a folder for its state and its temp files
	// Caller is the folder of who asked: what lies there is no toolchain, though it may be on PATH.
	Caller string `json:"caller,omitempty"`
	Memory int64  `json:"memory,omitempty"` // as in Rules
}

const placeVariable = "SIGNET_ACP_BOUNDS"

// Environment is the variable by which the relay gets the place.
func (p Place) Environment() string {
	text, _ := json.Marshal(p) // a struct of texts
	return placeVariable + "=" + string(text)
}

// Take returns the place that the runner gave us, false for none, and takes it from our environment. What runs in
// bounds may set the variable: it can only bound more what is bounded already.
func Take() (p Place, ok bool, err error) {
	text := os.Getenv(placeVariable)
	if text == "" {
		return p, false, nil
	}
	if err := os.Unsetenv(placeVariable); err != nil {
		return p, true, err
	}
	if json.Unmarshal([]byte(text), &p) != nil || !filepath.IsAbs(p.Tree) || !filepath.IsAbs(p.State) {
		return p, true, fmt.Errorf("%s cannot be read", placeVariable)
	}
	return p, true, nil
}
