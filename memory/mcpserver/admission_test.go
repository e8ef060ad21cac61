package mcpserver

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/lineage"
)

// Who needs no token, who does, and who is refused, by their ancestors and by what confines them.
func TestAdmission(t *testing.T) {
	const program = "/opt/signet-acp-proxy"
	process := func(id int, program string, confined ...bool) lineage.Process {
		return lineage.Process{ID: id, Program: program, Confined: len(confined) > 0}
	}
	init, us := process(1, "/sbin/init"), process(10, program)
	harness, bounded := process(11, "/bin/node"), process(11, "/bin/node", true)
	pipe, confined := process(20, program), process(20, program, true)
	other, renamed := process(30, "/usr/lib/signet-acp-proxy (deleted)"), process(30, "")
	renamed.Name = "signet-acp-prox"
	for _, tt := range []struct {
		name    string
		line    []lineage.Process
		harness bool // it is confined
		token   bool
		err     error
	}{
		{"the harness's", []lineage.Process{pipe, harness, us, init}, false, false, nil},
		{"the harness itself", []lineage.Process{harness, us, init}, false, false, nil},
		{"through a shell", []lineage.Process{pipe, process(12, "/bin/sh"), harness, us, init}, false, false, nil},
		{"in bounds that the harness is in, too", []lineage.Process{confined, bounded, us, init}, true, false, nil},
		{"below a relay below ours", []lineage.Process{pipe, harness, other, process(12, "/bin/sh"), us, init}, false,
			false, errOtherSession},
		{"another relay's", []lineage.Process{pipe, harness, other, init}, false, false, errOtherSession},
		{"another's, of whose program only the name is known", []lineage.Process{pipe, harness, renamed, init}, false, false,
			errOtherSession},
		{"a runner's command", []lineage.Process{process(20, "/bin/sh"), other, init}, false, false, errOtherSession},
		{"confined below the harness", []lineage.Process{confined, harness, us, init}, false, true, nil},
		{"a stranger", []lineage.Process{pipe, init}, false, true, nil},
		{"a confined stranger", []lineage.Process{confined, init}, false, false, errConfined},
		{"a stranger as confined as the harness", []lineage.Process{confined, init}, true, true, nil},
	} {
		a := admission{self: us.ID, program: program, confined: func() bool { return tt.harness }}
		token, err := a.judgeLine(tt.line)
		if token != tt.token || !errors.Is(err, tt.err) {
			t.Errorf("%s: token %v, %v", tt.name, token, err)
		}
	}
	if token, err := (admission{}).judgeProcess(0, 0); !token || err != nil {
		t.Errorf("a process that we do not see: %v, %v", token, err)
	}
}

// One client at a time is in by a session's token; the next one gets in when it has left.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &endpoint{turn: make(chan struct{}, 1)}
		first := in.enter(t.Context())
		begun := time.Now()
		second := in.enter(t.Context())
		if first != nil || second == nil || time.Since(begun) != turnLimit {
			t.Errorf("two at once: %v, %v after %v", first, second, time.Since(begun))
		}
		in.leave(second)
		time.AfterFunc(turnLimit/2, func() { in.leave(first) })
		if err := in.enter(t.Context()); err != nil {
			t.Errorf("the next: %v", err)
		}
	})
}
