package backendtest_test

import (
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/fake"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// program names what the fake engine runs instead of a shell.
func program(s script.Script) []string { return []string{string(s)} }

func TestFake(t *testing.T) {
	t.Parallel()
	engine := fake.NewEngine()
	backendtest.Run(t, backendtest.Backend{
		New:     func(backendtest.T) swarm.Backend { return engine.Backend() },
		Command: program,
	})
}
