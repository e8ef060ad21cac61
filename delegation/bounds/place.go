package bounds

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

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

// Prepare makes the place's folders, and returns the rules and the environment of a harness whose program is at path.
// closed is what it is never to reach, whatever else is on a list.
//
// Logins are copied. With the file itself a child could put another's account into it, with which the user would talk
// later; and a harness that cannot write it may fail when it renews it. What a child renews is not taken back.
//
// chosen are variables that a person lets it keep; files that their values name may be read.
func (p Place) Prepare(h upstream.Profile, path string, command, env, chosen, closed []string) (
	Rules, []string, error) {
	own, err := filepath.EvalSymlinks(p.State)
	if err != nil {
		return Rules{}, nil, err
	}
	if err := makeHomes(own, h.Homes, env); err != nil {
		return Rules{}, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return Rules{}, nil, err
	}
	closed = real(slices.Concat(closed, homes(env), keys(), []string{p.Caller}))
	files := slices.DeleteFunc(named(env, chosen), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular()
	})
	shared := slices.Concat(system, named(env, certificates))
	words := append([]string{path}, command...)
	others := slices.Concat(files, []string{self}, p.Reads)
	r := Rules{Memory: p.Memory, State: own, Write: []string{own}}
	r.Read, r.Links = without(real(shared), closed)
	r.Read = append(r.Read, real(slices.Concat(toolchains(env, closed), filesOf(words, closed), others))...)
	r.Links = append(r.Links, links(slices.Concat(shared, binaries(env), absolute(words), others,
		[]string{p.Tree, p.State}))...)
	if tree := real([]string{p.Tree}); p.Edit {
		r.Write = append(r.Write, tree...)
	} else {
		r.Read = append(r.Read, tree...)
	}
	for _, list := range []*[]string{&r.Read, &r.Links} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r, environment(own, h, env, chosen), nil
}
