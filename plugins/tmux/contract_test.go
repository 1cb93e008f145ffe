package tmux_test

import (
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/plugins/tmux"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestContract is TestBinary in this process, where the race detector sees the backend.
func TestContract(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("TestBinary runs the same cases")
	}
	backendtest.Run(t, backendtest.Backend{
		New:   func(backendtest.T) swarm.Backend { return tmux.New(hclog.NewNullLogger()) },
		Local: true,
		Shim:  shimPath,
		Spec:  ownServer,
	})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	backendtest.RunBinary(t, backendtest.Binary{Path: pluginPath, Shim: shimPath, Spec: ownServer})
}

// ownServer gives a worker a tmux server of its own.
func ownServer(t backendtest.T, spec *swarm.Spec) {
	socket := "c-" + spec.ID
	spec.Options = map[string]string{"socket": socket}
	t.Cleanup(func() { killServer(t, socket) })
}
