//go:build nomad

package nomad_test

import (
	"log/slog"
	"testing"

	"github.com/swarmhost/swarm/plugins/nomad"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func settings(address string) nomad.Config {
	c := nomad.Defaults()
	c.Address = address
	c.CPU, c.Memory, c.Disk = 10, 10, 10
	return c
}

func TestContract(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, backendtest.Backend{
		New: func(t backendtest.T) swarm.Backend {
			b, err := nomad.New(settings(agent.Address), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatalf("%v", err)
			}
			return b
		},
		Spec: small,
	})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	backendtest.RunBinary(t, backendtest.Binary{
		Path:   pluginPath,
		Config: []byte(`{"address":"` + agent.Address + `","cpu":10,"memory":10,"disk":10}`),
		Spec:   small,
	})
}

// small makes space for many workers: Nomad wants space for the whole of a log.
func small(_ backendtest.T, spec *swarm.Spec) { spec.OutputLimit = 4 << 20 }
