package caller

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestLineToMain: only an unbroken line of the main process's session is a proof.
func TestLineToMain(t *testing.T) {
	t.Parallel()
	main := proc.Process{Identity: proc.Identity{PID: 100, Start: 1, Boot: "b"}, Session: 100, Terminal: true}
	at := func(pid, session int, terminal bool) proc.Process {
		return proc.Process{Identity: proc.Identity{PID: pid, Start: 2, Boot: "b"}, Session: session, Terminal: terminal}
	}
	recycled := main
	recycled.Start = 9
	h := &Finder{Dir: statedir.Dir(t.TempDir())}
	run := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(rundir.Status{Main: main.Identity})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, rundir.StatusFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		line []proc.Process
		want bool
	}{
		"the main process":                 {[]proc.Process{main}, true},
		"its child":                        {[]proc.Process{at(3, 100, true), main}, true},
		"in a session of its own":          {[]proc.Process{at(3, 3, false), main}, true},
		"below a wrapper":                  {[]proc.Process{at(4, 100, true), at(3, 100, true), main}, true},
		"below a terminal in the terminal": {[]proc.Process{at(4, 3, true), at(3, 3, true), main}, true},
		"below a daemon":                   {[]proc.Process{at(4, 3, false), at(3, 3, false), main}, false},
		"below a child of a daemon":        {[]proc.Process{at(5, 5, true), at(4, 3, false), at(3, 100, true), main}, false},
		"adopted by the shim":              {[]proc.Process{at(4, 100, true), at(3, 100, true)}, false},
		"below another main process":       {[]proc.Process{at(3, 100, true), recycled}, false},
		"the shim itself":                  {nil, false},
	} {
		if err := h.lineToMain(c.line, run); (err == nil) != c.want {
			t.Errorf("%s: %v", what, err)
		}
	}
	if h.lineToMain([]proc.Process{main}, filepath.Join(t.TempDir(), "none")) == nil {
		t.Error("a run directory that can't be read proves something")
	}
}

// TestInForeground: a client that leads a session of its own below the first process of the
// system is a daemon; a wrapper above the client that does so is not.
func TestInForeground(t *testing.T) {
	t.Parallel()
	first, err := proc.Read(1)
	if err != nil {
		t.Fatal(err)
	}
	leader := proc.Process{Identity: proc.Identity{PID: 100, Start: 1, Boot: "b"}, Name: "client", Parent: 1, Session: 100}
	inside := leader
	inside.PID = 101
	onTerminal := leader
	onTerminal.Terminal = true
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	child := inside
	child.Parent, child.Session = self.PID, self.Session
	for what, c := range map[string]struct {
		line   []proc.Process
		daemon bool
	}{
		"a client that leads its session below init":  {[]proc.Process{leader}, true},
		"a client in the session of one that is gone": {[]proc.Process{inside}, true},
		"a client with a terminal":                    {[]proc.Process{onTerminal}, false},
		"a wrapper with a terminal":                   {[]proc.Process{child, onTerminal}, false},
		// In a container whose first process has the terminal, it has left that one.
		"a wrapper that leads its session below init": {[]proc.Process{child, leader}, first.Terminal},
		"no process": {nil, false},
	} {
		err := inForeground(c.line)
		_, daemon := errors.AsType[*team.UnprovenError](err)
		if daemon != c.daemon || (err == nil) == daemon {
			t.Errorf("%s: %v", what, err)
		}
	}
}
