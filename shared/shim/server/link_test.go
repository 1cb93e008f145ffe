//go:build linux

package server_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// There is one shim for every worker: what it links is paid for that often.
func TestShimLinksLittle(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "github.com/swarmhost/swarm/cmd/swarm-shim").Output()
	must(t, err)
	deps := strings.Fields(string(out))
	for _, heavy := range []string{"net", "encoding/json", "fmt", "log", "os/exec"} {
		if slices.Contains(deps, heavy) {
			t.Errorf("the shim links %s", heavy)
		}
	}
	const module = "github.com/swarmhost/swarm/"
	small := []string{
		"cmd/swarm-shim", "shared/cgroup", "shared/environ", "shared/proc", "shared/pty", "shared/safefile", "shared/shim/server", "shared/shim/server/box", "shared/shim/server/command", "shared/shim/server/control", "shared/shim/server/fdpass", "shared/shim/server/inherit", "shared/shim/server/nowait", "shared/shim/server/program", "shared/shim/server/record", "shared/shim/server/tail", "shared/shim/server/view", "shared/shim/rundir", "shared/swarm", "shared/trust",
	}
	for _, dep := range deps {
		first, _, _ := strings.Cut(dep, "/")
		ours, isOurs := strings.CutPrefix(dep, module)
		switch {
		case isOurs && !slices.Contains(small, ours), !isOurs && strings.Contains(first, ".") && !strings.HasPrefix(dep, "golang.org/x/sys/"):
			t.Errorf("the shim links %s", dep)
		}
	}
	if len(deps) < 10 {
		t.Errorf("only %d packages were looked at", len(deps))
	}
}
