package wake_test

import (
	"testing"

	"github.com/swarmhost/swarm/shared/wake"
)

func TestUp(t *testing.T) {
	c := make(chan struct{}, 1)
	wake.Up(c)
	wake.Up(c) // it must not wait
	if len(c) != 1 {
		t.Errorf("the channel has %d values, want 1", len(c))
	}
}
