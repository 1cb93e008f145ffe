package container

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
)

// TestInventedExit knows the exit that an engine makes up after a restart of the machine.
func TestInventedExit(t *testing.T) {
	t.Parallel()
	booted, err := proc.BootTime()
	if err != nil || bootID() == "" {
		t.Fatalf("this machine does not say when it was started: %v", err)
	}
	before, after := booted.Add(-time.Hour), booted.Add(time.Second)
	for name, test := range map[string]struct {
		boot              string // in the note
		started, finished time.Time
		invented          bool
	}{
		"of this boot":                     {bootID(), after, after.Add(time.Second), false},
		"the clock was set":                {bootID(), before, after, false},
		"it ran over the restart":          {"another", before, after, true},
		"it ended before":                  {"another", before, before.Add(time.Minute), false},
		"no note, it ran over the restart": {"", before, after, true},
		"no note, it ended before":         {"", before, before.Add(time.Minute), false},
		"no note, of this boot":            {"", after, after.Add(time.Second), false},
	} {
		why := unknowable(state{started: test.started, finished: test.finished}, note{Boot: test.boot})
		if (why != "") != test.invented {
			t.Errorf("%s: %q", name, why)
		}
	}
}
