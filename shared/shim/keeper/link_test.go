//go:build linux

package keeper_test

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
	small := []string{
		"github.com/swarmhost/swarm/cmd/swarm-shim", "github.com/swarmhost/swarm/shared/safefile", "github.com/swarmhost/swarm/shared/trust",
	}
	for _, dep := range deps {
		first, _, _ := strings.Cut(dep, "/")
		foreign := strings.Contains(first, ".") && !strings.HasPrefix(dep, "golang.org/x/sys/") && !strings.HasPrefix(dep, "github.com/swarmhost/swarm/shared/shim/")
		if foreign && !slices.Contains(small, dep) {
			t.Errorf("the shim links %s", dep)
		}
	}
	if len(deps) < 10 {
		t.Errorf("only %d packages were looked at", len(deps))
	}
}
