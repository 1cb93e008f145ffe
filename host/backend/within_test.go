package backend

import (
	"os"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/reattach"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/proc"
)

// Calls of a plugin have a limit, unless a person debugs it.
func TestLimitsOfADebuggedPlugin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	session := reattach.Session{Plugin: client.Info{Name: "slow"}, Server: self, Holder: self}
	forget, err := session.Keep(dir)
	if err != nil {
		t.Fatal(err)
	}
	ps := New(Options{Dir: statedir.Dir(dir)})
	isLimited := func(name string) bool {
		ctx, cancel := ps.Within(t.Context(), name, time.Minute)
		defer cancel()
		_, limited := ctx.Deadline()
		return limited
	}
	if isLimited("slow") || !isLimited("other") {
		t.Errorf("limited: %v and %v", isLimited("slow"), isLimited("other"))
	}
	if err := forget(); err != nil {
		t.Fatal(err)
	}
	if !isLimited("slow") {
		t.Error("there is no limit after the session")
	}
	for debugged, want := range map[bool]bool{true: false, false: true} {
		ctx, cancel := (&Peer{Debugged: debugged}).Within(t.Context(), time.Minute)
		if _, limited := ctx.Deadline(); limited != want {
			t.Errorf("debugged %v: limited %v", debugged, limited)
		}
		cancel()
	}
}
