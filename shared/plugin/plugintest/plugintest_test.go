package plugintest_test

import (
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/fake"
	"github.com/swarmhost/swarm/shared/swarm"
)

// program names what the fake engine runs instead of a shell.
func program(s plugintest.Script) []string { return []string{string(s)} }

func TestFake(t *testing.T) {
	t.Parallel()
	engine := fake.NewEngine()
	plugintest.Run(t, plugintest.Backend{
		New:     func(plugintest.T) swarm.Backend { return engine.Backend() },
		Command: program,
	})
}
