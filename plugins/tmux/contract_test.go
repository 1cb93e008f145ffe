package tmux_test

import (
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"sync"
	"testing"

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
		New:   func(backendtest.T) swarm.Backend { return tmux.New(slog.New(slog.DiscardHandler)) },
		Local: true,
		Shim:  shimPath,
		Spec:  ownServer,
	})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	backendtest.RunBinary(t, backendtest.Binary{Path: pluginPath, Shim: shimPath, Spec: ownServer})
}

// ownServer gives the workers of a case a tmux server of their own.
func ownServer(t backendtest.T, spec *swarm.Spec) {
	digest := fnv.New64a()
	_, _ = digest.Write([]byte(t.Name())) // a hash takes everything
	socket := fmt.Sprintf("c-%d-%x", os.Getpid(), digest.Sum64())
	spec.Options = map[string]string{"socket": socket}
	if _, cleaned := servers.LoadOrStore(socket, true); !cleaned {
		t.Cleanup(func() { killServer(t, socket); servers.Delete(socket) })
	}
}

// servers are the tmux servers of cases that are running, by their sockets.
var servers sync.Map
