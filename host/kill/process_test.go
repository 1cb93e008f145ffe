package kill_test

import (
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
)

// TestSpawnProcess is the main of another process.
func TestSpawnProcess(t *testing.T) { hosttest.RunSpawn(t) }
